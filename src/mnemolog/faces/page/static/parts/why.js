// Why a hit ranks where it does: parts that give the shown score when they are put together.
import { html } from "../vendor/preact.js";
import { score } from "../lib/format.js";

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

export function WhyBar({ hit }) {
  if (hit.why.mode === "product") return html`<p class="why small quiet">${hit.why.parts.map((part) => html`<span key=${part.name}>${part.name} ×${score(part.contribution)}</span> `)}</p>`;
  const parts = rounded(partsOf(hit.why), hit.relevance);
  return html`<div class="why small quiet"><span class="whybar" aria-hidden="true">${parts.map((one) => html`<i key=${one.label} data-part=${one.label} style=${{ width: `${Math.max(0, one.value) * 100}%` }}></i>`)}</span>
    <span class="sums">${parts.map((one) => html`<span key=${one.label}>${one.label} <b data-value=${one.label}>${score(one.shown)}</b></span> `)}</span></div>`;
}

/** What a hit lacks against the one above it. */
export function Below({ hit, above, rank }) {
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
