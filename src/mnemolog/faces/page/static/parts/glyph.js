// Types: a shape, a colour and a word; never the colour alone.
import { html } from "../vendor/preact.js";
import { count, visible } from "../lib/format.js";

export const FORMS = { circle: "M7 1a6 6 0 1 0 0 12A6 6 0 1 0 7 1z", square: "M1 1h12v12H1z", diamond: "M7 0l7 7-7 7-7-7z", triangle: "M7 1l7 12H0z" };
const SHAPES = {
  conversation: "M1 3h12v8H1z",
  decision: FORMS.diamond,
  finding: FORMS.triangle,
  preference: "M7 13L1.2 7.2a3.6 3.6 0 0 1 5.1-5.1L7 2.8l.7-.7a3.6 3.6 0 0 1 5.1 5.1z",
  note: FORMS.square,
  event: "M7 0l1.8 5.2L14 7l-5.2 1.8L7 14 5.2 8.8 0 7l5.2-1.8z",
  node: "M2 1h7l3 3v9H2zM4 6v1h6V6zm0 3v1h6V9z",
};

export const Glyph = ({ type }) => Object.hasOwn(SHAPES, type)
  ? html`<svg class="glyph" data-type=${type} viewBox="0 0 14 14" aria-hidden="true"><path d=${SHAPES[type]} fill-rule="evenodd" /></svg>`
  : html`<span class="glyph own" aria-hidden="true">${type.slice(0, 1).toUpperCase()}</span>`;

/** Text that somebody else wrote: its own direction, unseen characters by name; one that is cut says so. */
export const bdi = (text, most = Infinity) => html`<bdi dir="auto">${seen(cut(String(text ?? ""), most))}</bdi>`;

/** A text that says so if it is cut. @param {string} text @param {number} most */
export const cut = (text, most) => (text.length > most ? `${text.slice(0, most - 1).replace(/[\ud800-\udbff]$/, "")}…` : text);

/** The same without a direction of its own. @param {string} text */
export const seen = (text) => visible(text).map((part) => typeof part === "string" ? part : html`<span class="chip" title="cannot be seen">${part.hidden}</span>`);

/** Advice, in which `commands` stand between marks. @param {string} text */
export const advised = (text) => String(text ?? "").split("`").map((part, at) => at % 2 ? html`<code>${seen(part)}</code>` : seen(part));

export const ORDER = ["conversation", "decision", "finding", "preference", "note", "event"];

/** How a number is made up of types: one thin bar, in their order. @param {{types: Record<string, number>}} props */
export function Strip({ types }) {
  const all = Object.entries(types ?? {}).sort(([one], [other]) => rank(one) - rank(other)).filter(([, many]) => many > 0);
  if (!all.length) return null;
  const words = all.map(([type, many]) => `${type} ${count(many)}`).join(", ");
  return html`<span class="strip" role="img" aria-label=${words} title=${words}>${all.map(([type, many]) => html`<i key=${type} data-type=${type} style=${{ flexGrow: many }}></i>`)}</span>`;
}

const rank = (type) => (ORDER.includes(type) ? ORDER.indexOf(type) : ORDER.length);
