// Forgetting: what retention will remove, erasing with proof, what is hidden, and the audit.
import { html, useState } from "../vendor/preact.js";
import { canWrite, get, isOwner, post } from "../lib/api.js";
import { ago, count, day, entries, plural, titleOf, typing, whole } from "../lib/format.js";
import { sending, useGet, useLoad, useTask } from "../lib/load.js";
import { here, href, route } from "../lib/route.js";
import { carryOut } from "../parts/acts.js";
import { Bars, ofTypes } from "../parts/bars.js";
import { tabbed } from "../parts/choices.js";
import { confirm } from "../parts/dialog.js";
import { bdi, Glyph } from "../parts/glyph.js";
import { Job, Proof } from "../parts/job.js";
import { attempt, toast } from "../parts/toast.js";
import { Loaded, Trouble } from "../parts/trouble.js";

const MOST = 200;

export const View = tabbed("Forgetting", [["retention", "Retention", true, Retention], ["erase", "Erase", false, Erase], ["hidden", "Hidden", false, Hidden], ["audit", "Audit", true, Audit]]);

function Retention() {
  const { agent, user } = route.value.query;
  if (agent || user) return html`<p class="empty">Retention concerns everything, whoever said it. <a href=${here({ agent: "", user: "" })}>Show it for all</a>.</p>`;
  return html`<${Rules} />`;
}

function Rules() {
  const rules = useGet("/retention");
  const plan = useLoad(() => post("/plans", { action: "retention", selector: {}, options: {} }), ["plan"], ["hidden"]);
  const run = async () => {
    const done = await carryOut({ action: "retention", selector: {}, title: "Run retention now", verb: (counts) => `Run: ${entries(counts.entries)}` });
    if (!done) return;
    toast(`${entries(done.receipt?.hidden ?? 0)} hidden, ${count(done.receipt?.erased ?? 0)} erased.`);
    plan.again();
    rules.again();
  };
  return html`<div class="stack">
    <${Loaded} load=${plan} rows=${3} what="Counting what the next run would remove…">${(found) => html`<section class="card stack" aria-label="Preview">
      <h2>What the next run would remove</h2>
      ${found.counts.entries ? html`<p>${found.sentence}</p><${Bars} caption="By type" rows=${ofTypes(found.counts.by_type)} />` : html`<p class="quiet">Nothing: no entry is past its age.</p>`}
      <div class="row"><button onClick=${run} disabled=${!found.counts.entries || !canWrite()}>Run now…</button><small>Whatever is hidden by it can be brought back until its own limit.</small></div></section>`}</>
    <${Loaded} load=${rules} rows=${5}>${(told) => html`<section class="card stack" aria-label="Rules">
      <h2>Rules</h2>
      <table class="bars rules"><thead><tr><th>type</th><th class="num">kept for</th></tr></thead><tbody>${told.rules.map((rule) => html`<tr key=${rule.type}><td><span class="row">${rule.type === "default" ? html`<span class="glyph"></span>every other type` : html`<${Glyph} type=${rule.type} />${rule.type}`}</span></td><td class="num">${rule.days === null ? "without limit" : plural(rule.days, "day")}</td></tr>`)}</tbody></table>
      <p class="quiet">${told.keep_approved_decisions ? "Decisions that the user approved are kept, whatever their age. " : ""}What is past its age is hidden first and erased after ${plural(told.undelete_days, "day")}.</p>
      <p class="quiet">Schedule <code>${told.schedule}</code>${told.auto_purge ? "" : " (switched off)"} · next run ${told.next_run ? whole(told.next_run) : "none"} · last run ${told.last_run ? whole(told.last_run) : "never"}</p></section>`}</>
  </div>`;
}

const FIELDS = /** @type {[string, string, string][]} */ ([["session_id", "Session", "one session, or leave empty for all"], ["tags", "Tags", "sensitive, health"], ["types", "Types", "conversation"], ["agents", "Agents", "architect"], ["ids", "Ids", "mem_…"], ["topic", "Topic", "a word in tags or category"]]);
const LISTS = ["tags", "types", "agents", "ids"];

function Erase() {
  const [given, set] = useState(/** @type {Record<string, string>} */ ({}));
  const [reason, why] = useState("");
  const [job, started] = useState();
  const [receipt, done] = useState();
  const { trouble, run } = useTask();
  const selector = Object.fromEntries(Object.entries(given).filter(([, value]) => value.trim()).map(([name, value]) => [name, LISTS.includes(name) ? value.split(",").map((one) => one.trim()).filter(Boolean) : value.trim()]));
  const erase = sending(() => run(async () => {
    done(null);
    const outcome = await carryOut({ action: "erase", selector, options: { reason }, title: "Erase for ever", verb: (counts) => `Erase ${entries(counts.entries)}`, isFinal: true });
    if (outcome) done(outcome.receipt);
  }));
  const field = ([name, label, hint]) => html`<label key=${name} class="field">${label}<input value=${given[name] ?? ""} placeholder=${hint} onInput=${(event) => set({ ...given, [name]: event.currentTarget.value })} autocomplete="off" autocapitalize="none" /></label>`;
  const isEmpty = !Object.keys(selector).some((name) => name !== "session_id");
  return html`<div class="stack">
    <form class="card stack" onSubmit=${erase} aria-label="What to erase">
      <p class="quiet">Entries that fit every line are removed from every file for good, and every byte below the root is looked through afterwards.</p>
      <div class="fields">${FIELDS.slice(0, 2).map(field)}</div>
      <details open=${FIELDS.slice(2).some(([name]) => given[name])}><summary>By type, agent, id or topic</summary><div class="fields">${FIELDS.slice(2).map(field)}</div></details>
      <div class="fields"><label class="field">Reason<input value=${reason} placeholder="kept in the audit; say nothing private" onInput=${typing(why)} /></label></div>
      <div class="row"><button class="final" disabled=${isEmpty || !canWrite()}>Plan the erasure…</button>${isEmpty && html`<small>Say a tag, type, agent, id or topic. A whole session is deleted under Sessions.</small>`}</div>
      <${Trouble} trouble=${trouble} /></form>
    ${receipt?.proof && html`<section class="card" aria-label="Proof"><h2>Proof</h2><${Proof} proof=${receipt.proof} erased=${receipt.erased} /></section>`}
    ${isOwner() && html`<${Check} started=${started} />`}
    ${job && html`<${Job} key=${job.id} id=${job.id} first=${job}>${(one) => html`<${Proof} proof=${one.result.proof} />`}</>`}
  </div>`;
}

function Check({ started }) {
  const [text, type] = useState("");
  const { trouble, run } = useTask();
  const look = sending(() => run(async () => started(await post("/verify", { text: [text] }))));
  return html`<form class="card stack" onSubmit=${look} aria-label="Look for words">
    <h2>Is it really gone?</h2>
    <div class="row low"><label class="field">Words that should be nowhere<input value=${text} onInput=${typing(type)} autocomplete="off" /></label><button disabled=${!text.trim()}>Look through every file</button></div>
    <p class="small quiet">The words are looked for and not kept: not in a log, not in the audit.</p>
    <${Trouble} trouble=${trouble} /></form>`;
}

function Hidden() {
  const [cursor, go] = useState("");
  const load = useGet("/hidden", { limit: MOST, cursor }, ["hidden"]);
  const back = ({ entry }) => attempt(async () => {
    await restore(entry.session_id, [entry.id]);
    toast("Brought back.");
    load.again();
  });
  const backAll = async (session) => {
    const done = await confirm({ title: "Bring back", sentence: html`Whatever is hidden in <bdi>${session}</bdi> is seen again.`, verb: "Bring all of it back", run: () => restoreAll(session) });
    if (!done) return;
    toast(`${entries(done.many)} brought back.`);
    load.again();
  };
  return html`<${Loaded} load=${load}>${(found) => found.total === 0 ? html`<p class="empty">Nothing is hidden. What is hidden in a session can be brought back here for a while.</p>` : html`
    <p class="quiet">${entries(found.total)} hidden. Each can be brought back until its day.</p>
    <table class="cards"><thead><tr><th>entry</th><th>session</th><th>hidden</th><th>until</th><th></th></tr></thead><tbody>${found.items.map((row, at) => html`<tr key=${`${row.entry.session_id}/${row.entry.id}`}>
      <td><span class="row"><${Glyph} type=${row.entry.type} />${bdi(titleOf(row.entry), 120)}</span></td>
      <td><a href=${href(["sessions", row.entry.session_id], { hidden: 1 })}>${bdi(row.entry.session_id, 40)}</a>${canWrite() && isFirstOfSeveral(found.items, at) && html` <button class="bare small" aria-label=${`Bring back all of ${row.entry.session_id}…`} onClick=${() => backAll(row.entry.session_id)}>Bring back all…</button>`}</td>
      <td class="brief" title=${row.hidden_at && whole(row.hidden_at)}>${row.hidden_at && html`<span class="narrow">hidden</span> ${ago(row.hidden_at)}`}</td><td class="brief">${row.hidden_until && html`<span class="narrow">until</span> ${day(row.hidden_until)}`}</td>
      <td><button onClick=${() => back(row)} disabled=${!canWrite()}>Bring back</button></td></tr>`)}</tbody></table>
    <${Pages} found=${found} cursor=${cursor} go=${go} />`}</>`;
}

const restore = (session, ids) => post("/hidden/restore", { session_id: session, ids });

/** As many at a time as the server lists, until none is left that it would bring back. */
async function restoreAll(session) {
  for (let many = 0; ;) {
    const { items } = await get("/hidden", { session, limit: MOST });
    const { ids } = items.length ? await restore(session, items.map(({ entry }) => entry.id)) : { ids: [] };
    if (!ids.length) return { many };
    many += ids.length;
  }
}

/** Whether a row is the first of its session, and not the last. */
function isFirstOfSeveral(items, at) {
  const all = items.map(({ entry }) => entry.session_id);
  return all.indexOf(all[at]) === at && all.lastIndexOf(all[at]) !== at;
}

const Pages = ({ found, cursor, go, children }) => html`<div class="row">${cursor && html`<button onClick=${() => go("")}>Newest</button>`}${found.next_cursor && html`<button onClick=${() => go(found.next_cursor)}>Older</button>`}${children}</div>`;

function Audit() {
  const [cursor, go] = useState("");
  const load = useGet("/audit", { limit: 100, cursor }, ["hidden", "job"]);
  return html`<${Loaded} load=${load}>${(found) => html`
    <p class=${found.chain_ok ? "ok" : "danger"}>${found.chain_ok ? "✓ The chain of the audit holds: no line was changed or removed." : `✕ ${found.chain_problem}`}</p>
    ${found.items.length === 0 ? html`<p class="empty">Nothing was deleted, erased, archived or backed up yet.</p>` : html`
    <table class="cards"><thead><tr><th>when</th><th>who</th><th>what</th><th class="num">entries</th><th>session</th><th>why</th></tr></thead><tbody>${found.items.map((row, at) => html`<tr key=${at}>
      <td>${whole(row.at)}</td><td>${bdi(row.actor, 60)}</td><td>${/* the page's word for it */ row.action === "delete" ? "hide" : row.action}</td><td class="num">${count(row.count)} <span class="narrow">${row.count === 1 ? "entry" : "entries"}</span></td>
      <td>${row.session_id && html`<a href=${href(["sessions", row.session_id])}>${bdi(row.session_id, 40)}</a>`}</td><td>${bdi(row.reason, 200)}</td></tr>`)}</tbody></table>
    <${Pages} found=${found} cursor=${cursor} go=${go}><small>${plural(found.total, "line")} in all; never what was said.</small></>`}`}</>`;
}
