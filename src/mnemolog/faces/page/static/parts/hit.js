// Something that was found: what it is, its score, the words that were meant, and why it is here.
import { html } from "../vendor/preact.js";
import { day, score, whole } from "../lib/format.js";
import { entryHref, href } from "../lib/route.js";
import { titleOf, words } from "./entry.js";
import { bdi, Glyph, seen } from "./glyph.js";
import { Below, WhyBar } from "./why.js";

const SHOWN = 280;

/** Where a hit leads. */
export const placeOf = (hit) => (hit.kind === "node" ? href(["knowledge", hit.node.user, ...hit.node.path.split("/")]) : entryHref(hit.entry.session_id ?? "", hit.entry.id));
export const keyOf = (hit) => (hit.kind === "node" ? `node ${hit.node.user} ${hit.node.path}` : `${hit.entry.session_id} ${hit.entry.id}`);

/** Text with marks; places count characters as the server does, not halves of pairs.
 * @param {{text: string, marks: [number, number][]}} props */
function Marked({ text, marks }) {
  const letters = /[\ud800-\udfff]/.test(text) ? Array.from(text) : text;
  const first = marks[0]?.[0] ?? 0;
  const from = first > SHOWN - 80 ? Math.max(0, first - 60) : 0;
  const cut = (low, high) => { const part = letters.slice(low, high); return typeof part === "string" ? part : part.join(""); };
  const pieces = [];
  let at = from;
  for (const [low, high] of marks) {
    if (low < at || low >= from + SHOWN) continue;
    pieces.push(seen(cut(at, low)), html`<mark>${seen(cut(low, high))}</mark>`);
    at = high;
  }
  pieces.push(seen(cut(at, Math.max(at, from + SHOWN))));
  return html`<bdi dir="auto">${from > 0 && "… "}${pieces}${letters.length > from + SHOWN && " …"}</bdi>`;
}

export function Hit({ hit, rank, above, isActive, isWhy, onWhy, onFocus }) {
  const isNode = hit.kind === "node", { entry, node } = hit;
  const title = isNode ? node.title || node.path : titleOf(entry), speaker = entry?.agent_id ?? entry?.role;
  return html`<li class="hit" data-type=${isNode ? "node" : entry.type} data-active=${isActive ? "1" : undefined} tabindex=${isActive ? 0 : -1} data-key=${keyOf(hit)} onFocus=${onFocus}>
    <div class="top"><span class="rank quiet">${rank}</span><${Glyph} type=${isNode ? "node" : entry.type} /><span class="quiet">${isNode ? "node" : bdi(entry.type, 30)}</span>
      <a class="name" href=${placeOf(hit)} tabindex=${isActive ? 0 : -1}>${bdi(title || "(empty)", 120)}</a><span class="score" title="relevance">${score(hit.relevance)}</span></div>
    <p class="small quiet">${isNode ? html`${bdi(node.user)} · ${bdi(node.path)}` : html`${speaker && html`${bdi(speaker, 40)} · `}<time title=${whole(entry.timestamp)}>${day(entry.timestamp)}</time> · <a href=${href(["sessions", entry.session_id ?? ""], { at: entry.id })} tabindex="-1">${bdi(entry.session_id, 40)}</a>${(entry.tags ?? []).map((tag) => html` <span class="tag" key=${tag}>#${bdi(words(tag), 40)}</span>`)}`}</p>
    ${hit.text !== title && html`<p class="excerpt"><${Marked} text=${hit.text} marks=${hit.highlights} /></p>`}
    <${WhyBar} hit=${hit} />
    ${above && html`<button class="bare small" aria-expanded=${isWhy} onClick=${onWhy}>${isWhy ? "▾" : "▸"} why is #${rank} below #${rank - 1}?</button>`}
    ${isWhy && above && html`<${Below} hit=${hit} above=${above} rank=${rank} />`}
    ${isWhy && !above && html`<p class="small">It is the first: nothing has a higher score.</p>`}</li>`;
}
