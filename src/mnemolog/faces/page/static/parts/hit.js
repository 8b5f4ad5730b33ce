// A hit: what was found, the words that were meant, its score; and why: parts that together give that score.
import { html } from "../vendor/preact.js";
import { day, score, titleOf, whole, words } from "../lib/format.js";
import { nodeHref } from "../lib/nodes.js";
import { entryHref, href } from "../lib/route.js";
import { bdi, Glyph, seen } from "./glyph.js";

const SHOWN = 280;

/** Where a hit leads. */
export const placeOf = (hit) => (hit.kind === "node" ? nodeHref(hit.node.user, hit.node.path) : entryHref(hit.entry.session_id ?? "", hit.entry.id));
export const keyOf = (hit) => (hit.kind === "node" ? `node ${hit.node.user} ${hit.node.path}` : `${hit.entry.session_id} ${hit.entry.id}`);

/** Text with marks, without the title where it begins with that; places count characters as the server does, not halves of pairs.
 * @param {{text: string, marks: [number, number][], title: string}} props */
function Marked({ text, marks, title }) {
  const letters = /[\ud800-\udfff]/.test(text) ? Array.from(text) : text;
  const begin = text.startsWith(`${title} · `) ? Array.from(title).length + 3 : 0;
  const first = marks.find(([low]) => low >= begin)?.[0] ?? begin;
  const from = first > begin + SHOWN - 80 ? first - 60 : begin;
  const cut = (low, high) => { const part = letters.slice(low, high); return typeof part === "string" ? part : part.join(""); };
  const pieces = [];
  let at = from;
  for (const [low, high] of marks) {
    if (low < at || low >= from + SHOWN) continue;
    pieces.push(seen(cut(at, low)), html`<mark>${seen(cut(low, high))}</mark>`);
    at = high;
  }
  pieces.push(seen(cut(at, Math.max(at, from + SHOWN))));
  return html`<bdi dir="auto">${from > begin && "… "}${pieces}${letters.length > from + SHOWN && " …"}</bdi>`;
}

export function Hit({ hit, rank, above, isActive, isWhy, onWhy, onFocus }) {
  const isNode = hit.kind === "node", { entry, node } = hit;
  const title = isNode ? node.title || node.path : titleOf(entry), speaker = entry?.agent_id ?? entry?.role;
  return html`<li class="hit" data-type=${isNode ? "node" : entry.type} data-active=${isActive ? "1" : undefined} tabindex=${isActive ? 0 : -1} data-key=${keyOf(hit)} onFocus=${onFocus}>
    <div class="top"><span class="rank quiet">${rank}</span><${Glyph} type=${isNode ? "node" : entry.type} /><span class="quiet">${isNode ? "node" : bdi(entry.type, 30)}</span>
      <a class="name" href=${placeOf(hit)} tabindex=${isActive ? 0 : -1}>${bdi(title || "(empty)", 120)}</a><span class="score" title="relevance">${score(hit.relevance)}</span></div>
    <p class="small quiet">${isNode ? html`${bdi(node.user)} · ${bdi(node.path)}` : html`${speaker && html`${bdi(speaker, 40)} · `}<time title=${whole(entry.timestamp)}>${day(entry.timestamp)}</time> · <a href=${href(["sessions", entry.session_id ?? ""], { at: entry.id })} tabindex="-1">${bdi(entry.session_id, 40)}</a>${(entry.tags ?? []).map((tag) => html` <span class="tag" key=${tag}>#${bdi(words(tag), 40)}</span>`)}`}</p>
    ${(hit.text !== title || title.length > 40) && html`<p class="excerpt"><${Marked} text=${hit.text} marks=${hit.highlights} title=${title} /></p>`}
    <${WhyBar} hit=${hit} />
    ${above && html`<button class="bare small" aria-expanded=${isWhy} onClick=${onWhy}>${isWhy ? "▾" : "▸"} why is #${rank} below #${rank - 1}?</button>`}
    ${isWhy && above && html`<${Below} hit=${hit} above=${above} rank=${rank} />`}
    ${isWhy && !above && html`<p class="small">It is the first: nothing has a higher score.</p>`}</li>`;
}

const LABELS = { lexical: "words", semantic: "meaning", neighbours: "near", match: "match" };
const ORDER = ["match", "words", "meaning", "near", "prior"];

/** The parts as people read them: words, meaning, near, and everything else as prior. @returns {{label: string, value: number}[]} */
function partsOf(why) {
  const sums = new Map();
  for (const part of why.parts) {
    const label = Object.hasOwn(LABELS, part.name) ? LABELS[part.name] : "prior";
    sums.set(label, (sums.get(label) ?? 0) + part.contribution);
  }
  return ORDER.filter((label) => sums.has(label)).map((label) => ({ label, value: sums.get(label) }));
}

/** Hundredths that sum up to the shown score: the largest remainders are rounded up. */
function rounded(parts, total) {
  const whole = Math.round(total * 100), floors = parts.map((one) => Math.floor(one.value * 100 + 1e-9));
  let rest = whole - floors.reduce((all, one) => all + one, 0);
  const order = parts.map((one, index) => [one.value * 100 - floors[index], index]).sort((one, other) => other[0] - one[0]);
  for (const [, index] of rest > 0 ? order : order.reverse()) { if (!rest) break; floors[index] += Math.sign(rest); rest -= Math.sign(rest); }
  return parts.map((one, index) => ({ ...one, shown: floors[index] / 100 }));
}

function WhyBar({ hit }) {
  if (hit.why.mode === "product") return html`<p class="why small quiet">${hit.why.parts.map((part) => html`<span key=${part.name}>${part.name} ×${score(part.contribution)}</span> `)}</p>`;
  const parts = rounded(partsOf(hit.why), hit.relevance);
  return html`<div class="why small quiet"><span class="whybar" aria-hidden="true">${parts.map((one) => html`<i key=${one.label} data-part=${one.label} style=${{ width: `${Math.max(0, one.value) * 100}%` }}></i>`)}</span>
    <span class="sums">${parts.map((one) => html`<span key=${one.label}>${one.label} <b data-value=${one.label}>${score(one.shown)}</b></span> `)}</span></div>`;
}

/** What a hit lacks against the one above it. */
function Below({ hit, above, rank }) {
  const shown = (one) => new Map(rounded(partsOf(one.why), one.relevance).map((part) => [part.label, part.shown]));
  const mine = shown(hit), theirs = shown(above);
  const labels = ORDER.filter((label) => mine.has(label) || theirs.has(label));
  if (hit.why.mode === "product") return html`<p class="small">#${rank} has ${score(hit.relevance)}, #${rank - 1} has ${score(above.relevance)}.</p>`;
  const steps = labels.map((label) => ({ label, shown: (mine.get(label) ?? 0) - (theirs.get(label) ?? 0) }));
  return html`<table class="below small"><caption>Why #${rank} is below #${rank - 1}</caption><thead><tr><th scope="col">part</th><th scope="col" class="num">#${rank}</th><th scope="col" class="num">#${rank - 1}</th><th scope="col" class="num">difference</th></tr></thead>
    <tbody>${steps.map((one) => html`<tr key=${one.label}><td>${one.label}</td><td class="num">${score(mine.get(one.label))}</td><td class="num">${score(theirs.get(one.label))}</td><td class="num">${signed(one.shown)}</td></tr>`)}
    <tr><th scope="row">score</th><td class="num">${score(hit.relevance)}</td><td class="num">${score(above.relevance)}</td><td class="num">${signed((Math.round(hit.relevance * 100) - Math.round(above.relevance * 100)) / 100)}</td></tr></tbody></table>`;
}

const signed = (value) => `${Math.round(value * 100) < 0 ? "−" : "+"}${score(Math.abs(value))}`;
