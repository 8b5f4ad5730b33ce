// Another text is there now: base, theirs and yours side by side, by block; where both changed the same lines, a person
// decides. Neither is ever lost.
import { html, useEffect, useMemo, useRef, useState } from "../vendor/preact.js";
import { plural, typing } from "../lib/format.js";
import { useTask } from "../lib/load.js";
import { bdi } from "./glyph.js";

const COLUMNS = /** @type {[string, string][]} */ ([["base", "What you began with"], ["theirs", "What is there now"], ["mine", "Yours"]]);
const CHOICES = /** @type {[string, string][]} */ ([["theirs", "what is there"], ["mine", "yours"], ["both", "both, one after the other"]]);
const WHERE = { both: "on both sides", mine: "by you", theirs: "there", agreed: "in the same way" };

/** Writing over the text that was read: where another is there by now, nothing is written and `sides` shows both.
 * @param {(text: string, mark: any) => Promise<any>} write `mark` says over which text
 * @param {(error: any, text: string) => Promise<{base: string, theirs: string, mark: any}>} meet what one began with, and what is there
 * @param {string} [verb] */
export function useMeeting(write, meet, verb) {
  const { isBusy, trouble, run } = useTask();
  const [met, differ] = useState(null);
  const save = (text, mark) => run(async () => {
    try { await write(text, mark); } catch (error) {
      if (error.status !== 412 && error.code !== "E_CONCURRENT_MOD") throw error;
      differ({ mine: text, ...await meet(error, text) });
    }
  });
  return { isBusy, trouble, save, sides: met && html`<${Conflict} key=${JSON.stringify(met.mark)} ...${met} isBusy=${isBusy} verb=${verb} done=${(text) => save(text, met.mark)} leave=${() => differ(null)} />` };
}

/** @param {{base: string, theirs: string, mine: string, done: (text: string) => void, leave: () => void, isBusy?: boolean, verb?: string}} props */
function Conflict({ base, theirs, mine, done, leave, isBusy = false, verb = "Save this text" }) {
  const parts = useMemo(() => blocks(base, theirs, mine), [base, theirs, mine]);
  const [choices, choose] = useState(() => parts.map(usual));
  const [text, type] = useState(/** @type {string | null} */ (null));
  const head = useRef();
  useEffect(() => { head.current?.focus(); }, []);
  const open = choices.filter((choice) => !choice).length;
  const made = parts.flatMap((block, at) => block[choices[at]] ?? [...block.theirs, ...block.mine]).join("\n");
  const take = (at, choice) => { type(null); choose(choices.map((one, row) => (row === at ? choice : one))); };
  return html`<section class="conflict stack" aria-label="Two texts">
    <h2 tabindex="-1" ref=${head}>Another text is there now</h2>
    <p>It was changed since you began. Nothing was written, and both texts are here. ${open ? `${plural(open, "block")} changed on both sides: choose for ${open === 1 ? "it" : "each"}.` : "No block changed on both sides, or you have chosen for each."}</p>
    <div><div class="block titles" aria-hidden="true">${COLUMNS.map(([name, label]) => html`<strong key=${name}>${label}</strong>`)}</div>
      ${parts.map((block, at) => block.kind === "same" ? html`<${Same} key=${at} lines=${block.base} />` : html`<fieldset class="block" key=${at} data-kind=${choices[at] ? "" : "open"}>
        <legend class="only-read">Block ${at + 1}: changed ${WHERE[block.kind]}</legend>
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

/** @typedef {{base: string[], theirs: string[], mine: string[], kind: "same" | "theirs" | "mine" | "agreed" | "both"}} Block */

const MOST = 3000;

/** Pairs of equal lines of two lists, in order: the longest such row. @returns {Map<number, number>} */
function matches(one, other) {
  let from = 0, to1 = one.length, to2 = other.length;
  const found = new Map();
  while (from < to1 && from < to2 && one[from] === other[from]) { found.set(from, from); from += 1; }
  while (to1 > from && to2 > from && one[to1 - 1] === other[to2 - 1]) { to1 -= 1; to2 -= 1; found.set(to1, to2); }
  const high = to1 - from, wide = to2 - from;
  if (!high || !wide || high > MOST || wide > MOST) return found;
  const best = Array.from({ length: high + 1 }, () => new Uint16Array(wide + 1));
  for (let i = high - 1; i >= 0; i -= 1) for (let j = wide - 1; j >= 0; j -= 1) {
    best[i][j] = one[from + i] === other[from + j] ? best[i + 1][j + 1] + 1 : Math.max(best[i + 1][j], best[i][j + 1]);
  }
  for (let i = 0, j = 0; i < high && j < wide;) {
    if (one[from + i] === other[from + j]) { found.set(from + i, from + j); i += 1; j += 1; }
    else if (best[i + 1][j] >= best[i][j + 1]) i += 1; else j += 1;
  }
  return found;
}

const same = (one, other) => one.length === other.length && one.every((line, at) => line === other[at]);

function kindOf(base, theirs, mine) {
  if (same(theirs, mine)) return same(base, mine) ? "same" : "agreed";
  if (same(base, mine)) return "theirs";
  return same(base, theirs) ? "mine" : "both";
}

/** Blocks in order; joined, each column is its whole text. @param {string} base @param {string} theirs @param {string} mine @returns {Block[]} */
function blocks(base, theirs, mine) {
  const [b, t, m] = [base, theirs, mine].map((text) => text.split("\n"));
  const inTheirs = matches(b, t), inMine = matches(b, m);
  /** @type {Block[]} */
  const made = [];
  let at = 0, atTheirs = 0, atMine = 0;
  const add = (toBase, toTheirs, toMine) => {
    const block = { base: b.slice(at, toBase), theirs: t.slice(atTheirs, toTheirs), mine: m.slice(atMine, toMine) };
    [at, atTheirs, atMine] = [toBase, toTheirs, toMine];
    if (!block.base.length && !block.theirs.length && !block.mine.length) return;
    const kind = kindOf(block.base, block.theirs, block.mine), last = made.at(-1);
    if (last && last.kind === kind && (kind === "same" || kind === "agreed")) for (const name of ["base", "theirs", "mine"]) last[name].push(...block[name]);
    else made.push({ ...block, kind });
  };
  for (let i = 0; i < b.length; i += 1) {
    const j = inTheirs.get(i), k = inMine.get(i);
    if (j === undefined || k === undefined || j < atTheirs || k < atMine) continue;
    add(i, j, k);
    add(i + 1, j + 1, k + 1);
  }
  add(b.length, t.length, m.length);
  return made;
}

/** What one would choose where only one side changed; empty where a person must. @param {Block} block */
const usual = ({ kind }) => ({ both: "", theirs: "theirs" })[kind] ?? "mine";
