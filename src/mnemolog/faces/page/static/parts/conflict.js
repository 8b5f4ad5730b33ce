// Another text is there now: base, theirs and yours side by side, by block. Neither is ever lost.
import { html, useEffect, useMemo, useRef, useState } from "../vendor/preact.js";
import { plural, typing } from "../lib/format.js";
import { blocks, chosen, usual } from "../lib/merge.js";
import { bdi } from "./glyph.js";

const COLUMNS = /** @type {[string, string][]} */ ([["base", "What you began with"], ["theirs", "What is there now"], ["mine", "Yours"]]);
const CHOICES = /** @type {[string, string][]} */ ([["theirs", "what is there"], ["mine", "yours"], ["both", "both, one after the other"]]);

/** @param {{base: string, theirs: string, mine: string, done: (text: string) => void, leave: () => void, isBusy?: boolean, verb?: string}} props */
export function Conflict({ base, theirs, mine, done, leave, isBusy = false, verb = "Save this text" }) {
  const parts = useMemo(() => blocks(base, theirs, mine), [base, theirs, mine]);
  const [choices, choose] = useState(() => parts.map(usual));
  const [text, type] = useState(/** @type {string | null} */ (null));
  const head = useRef();
  useEffect(() => { head.current?.focus(); }, []);
  const open = choices.filter((choice) => !choice).length;
  const made = parts.flatMap((block, at) => (block.kind === "same" ? block.base : chosen(block, choices[at] || "both"))).join("\n");
  const take = (at, choice) => { type(null); choose(choices.map((one, row) => (row === at ? choice : one))); };
  return html`<section class="conflict stack" aria-label="Two texts">
    <h2 tabindex="-1" ref=${head}>Another text is there now</h2>
    <p>The node was changed since you began. Nothing was written, and both texts are here. ${open ? `${plural(open, "block")} changed on both sides: choose for ${open === 1 ? "it" : "each"}.` : "No block changed on both sides, or you have chosen for each."}</p>
    <div><div class="block titles" aria-hidden="true">${COLUMNS.map(([name, label]) => html`<strong key=${name}>${label}</strong>`)}</div>
      ${parts.map((block, at) => block.kind === "same" ? html`<${Same} key=${at} lines=${block.base} />` : html`<fieldset class="block" key=${at} data-kind=${choices[at] ? "" : "open"}>
        <legend class="only-read">Block ${at + 1}: changed ${block.kind === "both" ? "on both sides" : block.kind === "mine" ? "by you" : block.kind === "theirs" ? "there" : "in the same way"}</legend>
        ${COLUMNS.map(([name, label]) => html`<div key=${name} class="side" data-side=${name} data-on=${choices[at] === name || (choices[at] === "both" && name !== "base") ? "1" : undefined}><span class="small quiet side-name">${label}</span><pre>${bdi(block[name].join("\n") || "(nothing)", 8000)}</pre></div>`)}
        ${block.kind !== "agreed" && html`<div class="row picks">${CHOICES.map(([name, label]) => html`<label key=${name}><input type="radio" name=${`block-${at}`} checked=${choices[at] === name} onChange=${() => take(at, name)} /> ${label}</label>`)}</div>`}</fieldset>`)}</div>
    <label class="field">What will be written<textarea rows="8" value=${text ?? made} onInput=${typing(type)}></textarea></label>
    <div class="row"><button class="main" disabled=${isBusy || (open > 0 && text === null)} onClick=${() => done(text ?? made)}>${isBusy ? "Working…" : verb}</button>
      <button onClick=${leave} disabled=${isBusy}>Back to my text</button></div></section>`;
}

function Same({ lines }) {
  const text = lines.join("\n").trim();
  if (!text) return null;
  return html`<details><summary class="small quiet">${plural(lines.length, "line")} that nobody changed</summary><pre>${bdi(text, 4000)}</pre></details>`;
}
