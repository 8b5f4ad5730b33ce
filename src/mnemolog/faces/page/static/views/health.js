// Health: figures now, charts, what the doctor finds, and every setting.
import { html, useState } from "../vendor/preact.js";
import { canWrite, has, post } from "../lib/api.js";
import { ago, bytes, count, entries, percent, plural, typing } from "../lib/format.js";
import { useGet } from "../lib/load.js";
import { entryHref, here, href, route } from "../lib/route.js";
import { carryOut } from "../parts/acts.js";
import { Bars, ofTypes } from "../parts/bars.js";
import { Chart } from "../parts/chart.js";
import { choice, tabbed } from "../parts/choices.js";
import { advised, bdi } from "../parts/glyph.js";
import { Job } from "../parts/job.js";
import { Parked } from "../parts/parked.js";
import { attempt, copy, toast } from "../parts/toast.js";
import { Loaded } from "../parts/trouble.js";

export const View = tabbed("Health", [["now", "Now", false, Now], ["charts", "Charts", true, Charts], ["doctor", "Doctor", true, Doctor], ["settings", "Settings", true, Settings]]);

const ms = (value) => (value ? `${value.toFixed(1)} ms` : "–");
const ACTIVE = "memory.sessions.active"; // told to who may see everything, as all of these are
const FIGURES = /** @type {[name: string, label: string, shown: (value: number) => string, chart?: string][]} */ ([
  ["memory.operations.write.duration_ms", "write, 99 of 100 within", ms, "Writes"],
  ["memory.operations.query.duration_ms", "search, 95 of 100 within", ms, "Searches"],
  ["memory.locks.contention.count", "waits for a lock", count, "Waits for a lock"],
  ["memory.compaction.count", "compactions", count],
  ["memory.errors.corruption.count", "lines that cannot be read", count],
]);

function Now() {
  const load = useGet("/stats", {}, ["health", "session"]);
  const jobs = useGet("/jobs", {}, ["job"]);
  return html`<div class="stack"><${Loaded} load=${load}>${(told) => html`
    <dl class="figures"><${Figure} label="entries" value=${count(told.entries)} /><${Figure} label="sessions" value=${count(told.sessions)} />${ACTIVE in told.figures && html`<${Figure} label="active sessions" value=${count(told.figures[ACTIVE])} />`}
      <${Figure} label="on disk" value=${bytes(told.size_bytes)} /><${Figure} label="hidden" value=${count(told.hidden)} link=${href(["forgetting"], { tab: "hidden" })} /></dl>
    ${ACTIVE in told.figures && html`<section><h2>Since the server started</h2><dl class="figures">${FIGURES.map(([name, label, shown]) => html`<${Figure} key=${name} label=${label} value=${shown(told.figures[name])} />`)}</dl></section>`}
    <div class="columns"><${Bars} caption="By type" rows=${ofTypes(told.by_type)} />
      <${Bars} caption="By agent" rows=${top(told.by_agent).map(([label, value]) => ({ label, value, href: href(["sessions"], { agent: label }) }))} /></div>
    ${Object.keys(told.redactions).length > 0 && html`<${Bars} caption="Secrets hidden before they were written" rows=${top(told.redactions).map(([label, value]) => ({ label, value }))} />`}`}</>
    ${has("worker") && html`<${Worker} />`}
    <${Loaded} load=${jobs} rows=${1}>${(found) => found.items.length > 0 && html`<section class="stack"><h2>Jobs</h2>${found.items.slice(0, 10).map((job) => html`<${Job} key=${job.id} id=${job.id} first=${job} />`)}</section>`}</></div>`;
}

const Figure = ({ label, value, link }) => html`<div class="figure"><dt>${label}</dt><dd>${link ? html`<a href=${link}>${value}</a>` : value}</dd></div>`;
const top = (counts) => Object.entries(counts).sort((one, other) => other[1] - one[1]).slice(0, 12);

function Worker() {
  const load = useGet("/worker", {}, ["worker"]);
  const look = () => attempt(async () => { await post("/worker/tick"); toast("The worker looked."); load.again(); });
  return html`<${Loaded} load=${load} rows=${2}>${(told) => html`<section class="card stack" aria-label="Worker">
    <div class="row"><h2>Worker</h2><span class="chip">${told.state}</span><small>every ${told.tick_seconds} s · ${told.last_tick ? `looked ${ago(told.last_tick)}` : "has not looked yet"} · ${plural(told.queue.length, "session")} waiting</small>
      <button onClick=${look} disabled=${!canWrite()}>Look now</button></div>
    <${Parked} parked=${told.parked} again=${load.again} /></section>`}</>`;
}

function Charts() {
  const growth = useGet("/stats/series", { metric: "entries", step: "day" });
  const decay = useGet("/stats/decay");
  const recalled = useGet("/stats/recalled");
  return html`<div class="stack">
    <${Loaded} load=${growth}>${(found) => found.t.length > 1 ? html`<${Chart} caption="Growth of each type" unit="entries in all" isStepped t=${found.t} series=${summed(found.series)} />`
      : found.t.length ? html`<${Bars} caption="Growth: entries of each type on the one day so far" rows=${Object.entries(found.series).map(([type, [value]]) => ({ label: type, type, value }))} />` : html`<p class="empty">Nothing has grown yet.</p>`}</>
    <${Loaded} load=${decay}>${(found) => { const { days, series } = curves(found.items); return days.length > 0 && html`<${Chart} caption="Decay: what is left of each type as it grows older" unit="share of its weight, over days" isTime=${false} xUnit="days" x=${days} t=${[]} shown=${(value) => value.toFixed(2)} series=${series} />`; }}</>
    <${Loaded} load=${recalled}>${(found) => html`<section class="stack"><h2>What gets recalled</h2>
      <p class="quiet">${found.looked_at ? `${percent(found.never_share)} of ${entries(found.looked_at)} in the sessions changed last were never recalled.` : "Nothing is there to be recalled yet."}</p>
      ${found.most.length > 0 && html`<${Bars} caption="Recalled most" unit="×" rows=${found.most.map((one) => ({ label: one.text, type: one.type, value: one.accesses, href: entryHref(one.session_id, one.id) }))} />`}</section>`}</>
    ${FIGURES.map(([name, , , caption]) => caption && html`<${Figures} key=${name} name=${name} caption=${caption} />`)}</div>`;
}

function Figures({ name, caption }) {
  const load = useGet("/stats/series", { metric: name }, ["health"]);
  return html`<${Loaded} load=${load} rows=${2}>${(found) => found.t.length > 1 && html`<${Chart} caption=${caption} unit=${name.endsWith("_ms") ? "ms" : ""} t=${found.t} series=${{ [caption]: found.series[name] }} shown=${(value) => value.toFixed(1)} height=${140} />`}</>`;
}

/** What is left at some hours: between the points that the server gave. */
function leftAt(points, hours) {
  const after = points.findIndex(([at]) => at >= hours);
  if (after <= 0) return points.at(after)?.[1] ?? 1;
  const [[from, one], [to, other]] = [points[after - 1], points[after]];
  return one + (other - one) * (hours - from) / (to - from || 1);
}

/** Curves over the same days; types that fade alike share one, with all their names. */
function curves(items) {
  // Past the day on which the last of them has faded there is nothing to see.
  const faded = items.map(({ points }) => points.findLast(([, left], at) => at > 0 && left !== points.at(-1)[1])?.[0] ?? 0);
  const last = Math.max(...faded) * 1.15 || Math.max(0, ...items.map((one) => one.points.at(-1)?.[0] ?? 0));
  const hours = last ? Array.from({ length: 97 }, (_, at) => last * at / 96) : [];
  const known = new Map();
  for (const one of items) {
    const values = hours.map((at) => leftAt(one.points, at)), key = values.map((value) => value.toFixed(3)).join();
    known.set(key, { names: [...(known.get(key)?.names ?? []), one.type], values });
  }
  return { days: hours.map((at) => Math.round(at / 2.4) / 10), series: Object.fromEntries([...known.values()].map(({ names, values }) => [names.join(", "), values])) };
}

/** Counts a day as what there was in all. */
const summed = (series) => Object.fromEntries(Object.entries(series).map(([name, values]) => { let total = 0; return [name, values.map((value) => (total += value))]; }));

const SIGNS = { error: ["✕", "danger"], warning: ["▲", "warn"], note: ["●", "quiet"] };

function Doctor() {
  const isPrivate = route.value.query.privacy === "1";
  const load = useGet("/doctor", { privacy: isPrivate });
  const mend = () => attempt(async () => {
    const done = await carryOut({ action: "repair", selector: {}, title: "Mend", verb: () => "Mend it" });
    if (!done) return;
    toast(`${count(done.receipt.repaired.length)} mended, ${count(done.receipt.left)} left.`);
    load.again();
  });
  return html`<div class="stack"><div class="row">${choice("everything", here({ privacy: "" }), !isPrivate)}${choice("privacy only", here({ privacy: 1 }), isPrivate)}<button onClick=${load.again}>Look again</button>${canWrite() && load.value?.checks.some((one) => one.fix.plan) && html`<button onClick=${mend}>Mend what can be…</button>`}</div>
    <${Loaded} load=${load} what="Looking at every file…">${(told) => html`<p class=${told.healthy ? "ok" : "warn"}><strong>${told.healthy ? "✓ Healthy" : "There is something to look at"}</strong> <span class="quiet">${plural(told.sessions, "session")}, ${plural(told.lines, "line")}, ${bytes(told.size_bytes)} looked at</span></p>
      <ul class="plain stack">${told.checks.map((one, at) => html`<li key=${at} class="card"><p><span class=${SIGNS[one.level]?.[1] ?? "quiet"}>${SIGNS[one.level]?.[0] ?? "●"} ${one.level}</span> <strong>${one.title}</strong></p>
        <p>${bdi(one.detail, 600)}</p>${one.path && html`<p class="small"><code>${bdi(one.path, 200)}</code></p>`}
        ${one.fix.command && html`<p class="row"><span class="quiet">${advised(one.fix.command)}</span>${commandIn(one.fix.command) && html`<button class="bare" onClick=${() => copy(commandIn(one.fix.command))}>Copy the command</button>`}</p>`}</li>`)}</ul>`}</></div>`;
}

const commandIn = (advice) => /`(mnemolog [^`]+)`/.exec(advice)?.[1];

function Settings() {
  const load = useGet("/settings");
  const [text, type] = useState("");
  return html`<${Loaded} load=${load}>${(told) => { const rows = told.items.filter((one) => `${one.key} ${one.doc}`.toLowerCase().includes(text.toLowerCase())); return html`
    <div class="row"><input type="search" value=${text} onInput=${typing(type)} placeholder="Filter the settings" aria-label="Filter the settings" /><small role="status">${count(rows.length)} of ${count(told.items.length)} · changed in config.toml or by MNEMOLOG_…, then restart</small></div>
    <table class="cards settings"><thead><tr><th>setting</th><th>value</th><th>what it does</th></tr></thead><tbody>${rows.map((one) => html`<tr key=${one.key} class=${one.origin === "default" ? "" : "changed"}>
      <th scope="row"><code>${broken(one.key)}</code></th><td><code>${bdi(plain(one.value), 80)}</code>${one.origin === "default" ? "" : html`<p class="small quiet">from ${one.origin}; by default <code>${bdi(plain(one.default), 80)}</code></p>`}</td><td class="quiet">${one.doc}<p class="small faint">${one.permitted}</p></td></tr>`)}</tbody></table>`; }}</>`;
}

/** A name that may be broken where its parts begin, and nowhere else. */
const broken = (key) => key.split(/(?<=[._])/).map((part, at) => html`${at > 0 && html`<wbr />`}${part}`);
const plain = (value) => typeof value === "string" ? value : JSON.stringify(value);
