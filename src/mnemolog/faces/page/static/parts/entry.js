// An entry as people read it: a message, or a card with all its fields; and as its file holds it.
import { html, useState } from "../vendor/preact.js";
import { url } from "../lib/api.js";
import { bytes, count, ORIGINS, score, TITLES, words } from "../lib/format.js";
import { useGet } from "../lib/load.js";
import { href } from "../lib/route.js";
import { Markdown, MOST } from "../lib/markdown.js";
import { bdi, Glyph, seen } from "./glyph.js";
import { Loaded } from "./trouble.js";

const NAMES = {
  rationale: "why", alternatives_considered: "instead of", alternatives: "instead of", impact: "impact", approved_by: "approved by",
  severity: "severity", evidence: "evidence", recommendation: "do", status: "status", confidence: "confidence", learned_from: "learned from", context: "context",
};
const LINES = 12;
const PLAIN = /^[^*_`#>[\]|~<\n&]*$/;

/** Text that folds after twelve lines. */
function Folding({ text, link, isMarkdown = true }) {
  const isLong = text.length > 1400 || text.split("\n", LINES + 1).length > LINES;
  const [isOpen, open] = useState(false);
  const shown = text.length > MOST ? text.slice(0, 2000) : text;
  const body = isMarkdown && text.length <= MOST && !PLAIN.test(text) ? html`<${Markdown} text=${text} />` : html`<p class="said">${bdi(shown)}</p>`;
  if (!isLong) return body;
  return html`<div class=${isOpen ? "" : "folded"}>${body}</div>${text.length > MOST
    ? html`<a class="small" href=${link}>Open whole (${Math.round(text.length / 1024)} KB)</a>`
    : html`<button class="bare small" aria-expanded=${isOpen} onClick=${() => open(!isOpen)}>${isOpen ? "Show less" : "Show all"}</button>`}`;
}

/** What an entry says. */
export function Said({ entry, link }) {
  const { content, type } = entry;
  if (typeof content === "string") return html`<${Folding} text=${content} link=${link} />`;
  if (!content || typeof content !== "object") return html`<p class="said">${bdi(words(content))}</p>`;
  const head = type === "preference" ? ["key", "value"] : [TITLES[type] ?? "text"];
  const title = type === "preference" && content.key !== undefined ? `${words(content.key)} = ${words(content.value)}` : words(content[head[0]]);
  const fields = Object.entries(content).filter(([name, value]) => !head.includes(name) && value !== null && words(value) !== "");
  return html`${title && html`<p class="title">${bdi(title, 2000)}</p>`}
    ${fields.length > 0 && facts(fields.map(([name, value]) => [Object.hasOwn(NAMES, name) ? NAMES[name] : bdi(name, 40), bdi(words(value), 4000)]))}`;
}

/** Who speaks. */
export const speaker = (entry) => (entry.type === "conversation" && entry.role === "user" ? entry.user_id || "user" : entry.agent_id || entry.role || entry.origin);

/** Whether it came from elsewhere than the talk. */
const isForeign = ({ origin }) => ["recall", "tool", "import"].includes(origin);

/** What is known beside the content, in one line; nothing where nothing is worth saying. */
export function Aside({ row }) {
  const { entry } = row;
  const cites = entry.references?.length ?? 0;
  return html`<div class="aside small quiet">
    ${entry.type !== "conversation" && html`<${Pips} value=${row.importance} /><${Pie} left=${row.decay} />`}
    ${row.accesses > 0 && html`<span>recalled ${row.accesses}×</span>`}${cites > 0 && html`<span>cites ${cites}</span>`}
    ${row.revisions > 1 && html`<span>revised ${row.revisions - 1}×</span>`}${row.redactions.map((kind) => html`<span class="chip" key=${kind}>redacted ${kind}</span>`)}
    ${isForeign(entry) && html`<span>${ORIGINS[entry.origin]}</span>`}
    ${(entry.tags ?? []).map((tag) => html`<a key=${tag} class="tag" href=${href(["search"], { tags: tag })}>#${bdi(tag, 60)}</a>`)}</div>`;
}

/** Whether the line beside the content says anything. */
export const hasAside = ({ entry, revisions, redactions }) => entry.type !== "conversation" || revisions > 1 || redactions.length > 0 || (entry.tags ?? []).length > 0 || (entry.references ?? []).length > 0 || isForeign(entry);

/** The type as glyph and word. */
export const Kind = ({ type }) => html`<span class="kind"><${Glyph} type=${type} /> ${bdi(type, 40)}</span>`;

/** Names with what they say. @param {any[][]} pairs */
export const facts = (pairs) => html`<dl class="told">${pairs.map(([name, said]) => html`<div><dt>${name}</dt><dd>${said}</dd></div>`)}</dl>`;

/** Five pips. */
export function Pips({ value }) {
  const on = Math.max(0, Math.min(5, Math.round((value ?? 0) * 5)));
  return html`<span class="pips" role="img" aria-label=${`importance ${score(value)}`} title=${`importance ${score(value)}`}>${"●".repeat(on)}${"○".repeat(5 - on)}</span>`;
}

/** A pie that empties. */
function Pie({ left }) {
  const share = Math.max(0, Math.min(1, left ?? 1));
  const turn = share * 2 * Math.PI, x = 7 + 6 * Math.sin(turn), y = 7 - 6 * Math.cos(turn);
  const words = `${score(share)} of it is left today`;
  return html`<svg class="pie" viewBox="0 0 14 14" role="img" aria-label=${words}><title>${words}</title><circle cx="7" cy="7" r="6" />
    ${share >= 0.999 ? html`<circle cx="7" cy="7" r="6" />` : html`<path d=${`M7 7V1A6 6 0 ${share > 0.5 ? 1 : 0} 1 ${x.toFixed(2)} ${y.toFixed(2)}z`} />`}</svg>`;
}

/** The exact line of the file, and whether its checksum holds. */
export function RawLine({ session, entry }) {
  const load = useGet(url`/sessions/${session}/entries/${entry}/raw`);
  return html`<div class="raw"><${Loaded} load=${load} rows=${2}>${(found) => html`
    <p class="small"><strong class=${found.sum_ok ? "ok" : "danger"}>${found.sum_ok ? "✓ The checksum holds" : "✕ The checksum does not hold"}</strong>
      <span class="quiet"> · <code>${found.segment}</code> at byte ${count(found.offset)}, ${bytes(found.bytes)}${found.encoding === "utf-8" ? "" : `, shown as ${found.encoding}`}</span></p>
    <pre tabindex="0" aria-label="The line exactly as its file holds it"><${Exact} text=${found.line.replace(/\n$/, "")} /></pre>`}</></div>`;
}

/** Exactly what stands there; only characters that cannot be seen are shown by name. */
const Exact = ({ text }) => html`<bdi dir="ltr">${seen(text.slice(0, MOST))}${text.length > MOST ? html`<span class="chip">… ${bytes(text.length - MOST)} more</span>` : null}</bdi>`;
