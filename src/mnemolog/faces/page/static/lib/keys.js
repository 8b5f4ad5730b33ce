// Keys. A view says which it takes; every key has a visible control as well.
import { signal, useLayoutEffect, useRef } from "../vendor/preact.js";

const OFF = "mnemolog.keys";
/** @typedef {Record<string, [label: string, run: (event: KeyboardEvent) => void]>} Keys such as `j`, `g s`, `Ctrl k`, `Shift x` */
/** @type {{current: Keys}[]} */
const layers = [];
let waiting = "", timer = 0;

/** Whether single letters do anything: one switch turns them off. */
export const areOn = signal(localStorage.getItem(OFF) !== "off");

/** Enter was pressed in the search box: the first hit takes the focus once the hits are those of the words typed. */
export const isEntered = signal(false);

export function toggleLetters() {
  areOn.value = !areOn.value;
  localStorage.setItem(OFF, areOn.value ? "on" : "off");
}

/** Take keys as soon as something is shown; the latest layer comes first. @param {Keys} keys */
export function useKeys(keys) {
  const layer = useRef(keys);
  layer.current = keys;
  useLayoutEffect(() => {
    layers.unshift(layer);
    return () => layers.splice(layers.indexOf(layer), 1);
  }, []);
}

/** All keys that do something now, each with what it does, for the list. */
export function knownKeys() {
  const known = new Map();
  for (const { current } of layers) for (const [key, [label]] of Object.entries(current)) if (!known.has(key)) known.set(key, label);
  return [...known];
}

/** Put the focus on the first that fits. @param {string} selector */
export const focusOn = (selector) => /** @type {HTMLElement | null} */ (document.querySelector(selector))?.focus();

/** Move the focus among some elements. @param {any[]} all @param {number} by */
export function step(all, by) {
  const here = all.findIndex((one) => one.contains(document.activeElement));
  const next = all[Math.max(0, Math.min(all.length - 1, here + by))];
  next?.focus({ preventScroll: true });
  next?.scrollIntoView({ block: "nearest" });
}

const isTyping = (target) => target instanceof HTMLElement && (target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName)) && target.getAttribute("type") !== "checkbox";

addEventListener("keydown", (event) => {
  if (event.isComposing || event.altKey) return;
  const withControl = event.ctrlKey || event.metaKey;
  const single = event.key.length === 1 ? event.key.toLowerCase() : event.key;
  const isLetter = event.key.length === 1 && !withControl;
  if (isLetter && (isTyping(event.target) || !areOn.value)) return;
  if (event.key !== "Escape" && document.querySelector("dialog[open]")) return;
  // A control that has the focus knows best what Enter means.
  if (event.key === "Enter" && /** @type {Element} */ (event.target).closest?.("a, button, summary, input, select, textarea")) return;
  const name = `${withControl ? "Ctrl " : ""}${event.shiftKey && /^[a-z]$/.test(single) ? "Shift " : ""}${single}`;
  const chord = waiting ? `${waiting} ${name}` : name;
  clearTimeout(timer);
  waiting = "";
  for (const layer of layers) {
    const found = layer.current[chord];
    if (found) { event.preventDefault(); found[1](event); return; }
  }
  if (isLetter && layers.some((layer) => Object.keys(layer.current).some((key) => key.startsWith(`${name} `)))) {
    waiting = name;
    timer = setTimeout(() => { waiting = ""; }, 1200);
  }
});
