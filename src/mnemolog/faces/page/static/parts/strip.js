// How a number is made up of types: one thin bar, in the order of the types.
import { html } from "../vendor/preact.js";
import { count } from "../lib/format.js";

export const ORDER = ["conversation", "decision", "finding", "preference", "note", "event"];

/** @param {{types: Record<string, number>}} props */
export function Strip({ types }) {
  const all = Object.entries(types ?? {}).sort(([one], [other]) => rank(one) - rank(other)).filter(([, many]) => many > 0);
  if (!all.length) return null;
  const words = all.map(([type, many]) => `${type} ${count(many)}`).join(", ");
  return html`<span class="strip" role="img" aria-label=${words} title=${words}>${all.map(([type, many]) => html`<i key=${type} data-type=${type} style=${{ flexGrow: many }}></i>`)}</span>`;
}

const rank = (type) => (ORDER.includes(type) ? ORDER.indexOf(type) : ORDER.length);
