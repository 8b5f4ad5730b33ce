// A grid of rows of one height: one tab stop, arrow keys or j k, x selects, only rows in sight are in the page.
import { html, useEffect, useLayoutEffect, useRef, useState } from "../vendor/preact.js";
import { useKeys } from "../lib/keys.js";

/** The height of a row on this device. */
const tall = () => (matchMedia("(max-width: 800px)").matches ? 72 : matchMedia("(pointer: coarse)").matches ? 48 : 36);

/** @param {{label: string, columns: {name: string, label: any, cell: (row: any) => any, isNumber?: boolean}[], rows: any[], total: number,
 *   keyOf: (row: any) => string, open: (row: any) => void, chosen?: Set<string>, choose?: (keys: Set<string>) => void, more?: () => void}} props */
export function Grid({ label, columns, rows, total, keyOf, open, chosen, choose, more }) {
  const body = useRef();
  const [at, setAt] = useState(0);
  const [height, setHeight] = useState(tall);
  const from = useRef(0), wanted = useRef(/** @type {number | null} */ (null));
  const view = useVirtual(rows.length, height, body);
  const now = useRef();
  now.current = { at, rows, chosen };
  useEffect(() => {
    const look = () => setHeight(tall());
    addEventListener("resize", look);
    return () => removeEventListener("resize", look);
  }, []);
  useEffect(() => { if (more && view.to >= rows.length - 40 && rows.length < total) more(); }, [view.to, rows.length, total]);

  const move = (to) => {
    const next = Math.max(0, Math.min(now.current.rows.length - 1, to));
    setAt(now.current.at = next); // the next key may come before the next drawing
    reveal(body.current, next, height);
    view.look();
    wanted.current = next;
    focusWanted();
  };
  // Now, or with the drawing of a row that was out of sight; never later, when somebody may have moved on.
  const focusWanted = () => {
    const row = wanted.current === null ? null : body.current?.querySelector(`[data-at="${wanted.current}"]`);
    if (row) { wanted.current = null; row.focus({ preventScroll: true }); }
  };
  useLayoutEffect(focusWanted);
  const pick = (index, isRange) => {
    if (!choose) return;
    const next = new Set(now.current.chosen);
    const isOn = !next.has(keyOf(now.current.rows[index]));
    const [low, high] = isRange ? [Math.min(from.current, index), Math.max(from.current, index)] : [index, index];
    for (const row of now.current.rows.slice(low, high + 1)) { if (isRange || isOn) next.add(keyOf(row)); else next.delete(keyOf(row)); }
    from.current = index;
    choose(next);
  };
  const row = () => now.current.rows[now.current.at];
  useKeys({
    j: ["Next row", () => move(document.activeElement?.closest("[data-at]") ? now.current.at + 1 : now.current.at)],
    k: ["Row before", () => move(now.current.at - 1)],
    ...(choose ? { x: ["Select", () => row() && pick(now.current.at, false)], "Shift x": ["Select up to here", () => row() && pick(now.current.at, true)] } : {}),
  });
  const press = (event) => {
    const steps = { ArrowDown: 1, ArrowUp: -1, PageDown: 10, PageUp: -10, Home: -Infinity, End: Infinity };
    if (event.key in steps) { event.preventDefault(); move(Math.max(0, Math.min(rows.length - 1, at + steps[event.key]))); }
    else if (event.key === "Enter" && event.target.matches("[data-at]")) { event.preventDefault(); open(row()); }
    else if (event.key === " " && choose && event.target.matches("[data-at]")) { event.preventDefault(); pick(at, event.shiftKey); }
  };
  const line = (one, index) => {
    const key = keyOf(one), isChosen = !!chosen?.has(key);
    return html`<div role="row" class="line" key=${key} data-at=${index} aria-rowindex=${index + 2} aria-selected=${choose ? String(isChosen) : undefined}
        tabindex=${index === at ? 0 : -1} onFocus=${() => index !== at && setAt(index)}
        onClick=${(event) => { if (!event.target.closest("a, button, input, label") && !String(getSelection())) { setAt(index); open(one); } }}>
      ${choose && html`<div role="gridcell" class="pick"><label class="box"><input type="checkbox" tabindex="-1" checked=${isChosen} aria-label=${`Select ${key}`} onClick=${(event) => pick(index, event.shiftKey)} /></label></div>`}
      ${columns.map((column) => html`<div role="gridcell" class=${`cell ${column.name}${column.isNumber ? " num" : ""}`} key=${column.name}>${column.cell(one)}</div>`)}
    </div>`;
  };
  const isAll = rows.length > 0 && rows.every((one) => chosen?.has(keyOf(one)));
  return html`<div role="grid" class="grid" aria-label=${label} aria-rowcount=${total + 1} aria-multiselectable=${choose ? "true" : undefined} onKeyDown=${press}>
    <div role="rowgroup"><div role="row" class="line top" aria-rowindex="1">
      ${choose && html`<div role="columnheader" class="pick"><label class="box"><input type="checkbox" checked=${isAll} aria-label="Select all that are shown" onClick=${() => choose(isAll ? new Set() : new Set(rows.map(keyOf)))} /></label></div>`}
      ${columns.map((column) => html`<div role="columnheader" key=${column.name} class=${`cell ${column.name}${column.isNumber ? " num" : ""}`}>${column.label}</div>`)}</div></div>
    <div role="rowgroup" ref=${body}>
      <div role="none" style=${{ height: `${view.before}px` }}></div>
      ${rows.slice(view.from, view.to).map((one, index) => line(one, view.from + index))}
      <div role="none" style=${{ height: `${view.after}px` }}></div>
    </div></div>`;
}

const OVER = 8;

/** Which rows to draw. @param {number} count @param {number} height of a row @param {{current: any}} place the element that holds them
 * @returns {{from: number, to: number, before: number, after: number, look: () => void}} `look` looks again at once, as after a scroll */
function useVirtual(count, height, place) {
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
function reveal(place, at, height) {
  const bar = document.querySelector(".bar")?.getBoundingClientRect().bottom ?? 0;
  const top = place.getBoundingClientRect().top + at * height;
  const low = innerHeight - (matchMedia("(max-width: 800px)").matches ? 72 : 8);
  if (top < bar) scrollBy(0, top - bar - 8);
  else if (top + height > low) scrollBy(0, top + height - low);
}
