// Rows of one height in a window that scrolls: only those in sight are in the page.
import { useEffect, useLayoutEffect, useState } from "../vendor/preact.js";

const OVER = 8;

/** Which rows to draw. @param {number} count @param {number} height of a row @param {{current: any}} place the element that holds them
 * @returns {{from: number, to: number, before: number, after: number, look: () => void}} `look` looks again at once, as after a scroll */
export function useVirtual(count, height, place) {
  const [seen, set] = useState({ from: 0, to: 60 });
  const look = () => {
    if (!place.current) return;
    const above = -place.current.getBoundingClientRect().top;
    const from = Math.max(0, Math.floor(above / height) - OVER);
    const to = Math.max(from, Math.ceil((above + innerHeight) / height) + OVER);
    set((now) => (now.from === from && now.to === to ? now : { from, to }));
  };
  useLayoutEffect(look, [count, height]);
  useEffect(() => {
    addEventListener("scroll", look, { passive: true });
    addEventListener("resize", look);
    return () => { removeEventListener("scroll", look); removeEventListener("resize", look); };
  }, [height]);
  const from = Math.min(seen.from, Math.max(0, count - 1)), to = Math.min(count, Math.max(seen.to, from));
  return { from, to, before: from * height, after: (count - to) * height, look };
}

/** Bring a row into sight. @param {HTMLElement} place @param {number} at @param {number} height */
export function reveal(place, at, height) {
  const bar = document.querySelector(".bar")?.getBoundingClientRect().bottom ?? 0;
  const top = place.getBoundingClientRect().top + at * height;
  const low = innerHeight - (matchMedia("(max-width: 800px)").matches ? 72 : 8);
  if (top < bar) scrollBy(0, top - bar - 8);
  else if (top + height > low) scrollBy(0, top + height - low);
}
