// A few bars with their numbers: drawn by CSS, read as a table.
import { html } from "../vendor/preact.js";
import { count } from "../lib/format.js";
import { bdi, Glyph } from "./glyph.js";

/** Counts of types as rows, most first. @param {Record<string, number>} counts */
export const ofTypes = (counts) => Object.entries(counts).sort((one, other) => other[1] - one[1]).map(([type, value]) => ({ label: type, type, value }));

/** @param {{rows: {label: string, value: number, type?: string, shown?: string, href?: string}[], caption: string, unit?: string}} props */
export function Bars({ rows, caption, unit = "" }) {
  if (!rows.length) return null;
  const most = Math.max(1, ...rows.map((row) => row.value));
  return html`<table class="bars"><caption>${caption}</caption><tbody>${rows.map((row) => html`<tr key=${row.label}>
    <th scope="row"><span class="row">${row.type && html`<${Glyph} type=${row.type} />`}${row.href ? html`<a href=${row.href}>${bdi(row.label, 80)}</a>` : bdi(row.label, 80)}</span></th>
    <td class="num">${row.shown ?? count(row.value)}${unit && ` ${unit}`}</td>
    <td class="wide"><meter data-type=${row.type ?? ""} min="0" max=${most} value=${row.value} aria-hidden="true"></meter></td></tr>`)}</tbody></table>`;
}
