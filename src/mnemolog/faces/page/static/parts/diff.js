// What changed: lines with their sign, never by colour alone.
import { html } from "../vendor/preact.js";
import { bdi } from "./glyph.js";

const MOST = 600;
const SAID = { "+": "added", "-": "removed" };
// Numbers that every write changes say nothing.
const NOISE = /^(updatedAt|version): \d+$/;

/** Hunks without the lines that every write changes. */
export const telling = (hunks) => hunks
  .map((hunk) => ({ ...hunk, lines: hunk.old_start < 20 ? hunk.lines.filter((line) => line.op === " " || !NOISE.test(line.text)) : hunk.lines }))
  .filter((hunk) => hunk.lines.some((line) => line.op !== " "));

export function Diff({ hunks, label = "Changes" }) {
  if (!hunks.length) return html`<p class="quiet">Nothing in the text differs.</p>`;
  let left = MOST;
  return html`<div class="diff" role="group" aria-label=${label} tabindex="0">${hunks.map((hunk, at) => {
    const lines = hunk.lines.slice(0, Math.max(0, left));
    left -= lines.length;
    return html`<div class="hunk" key=${at}>${lines.map((line, row) => html`<div key=${row} class="diff-line" data-op=${line.op}>
      <span class="sign">${line.op === " " ? "" : html`<span aria-hidden="true">${line.op === "-" ? "−" : "+"}</span><span class="only-read">${SAID[line.op]}</span>`}</span><span class="said-line">${bdi(line.text || " ", 4000)}</span></div>`)}</div>`;
  })}${left <= 0 && html`<p class="small quiet">More than ${MOST} lines; the rest is left out.</p>`}</div>`;
}
