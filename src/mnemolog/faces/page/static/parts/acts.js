// What can be done to sessions. What changes or removes something is planned by the server, shown, and run as it was shown.
import { html, signal } from "../vendor/preact.js";
import { canWrite, get, post, url } from "../lib/api.js";
import { bytes, count, entries, plural, titleOf } from "../lib/format.js";
import { Select } from "./choices.js";
import { confirm } from "./dialog.js";
import { Progress, proven } from "./job.js";
import { attempt, toast, undoable } from "./toast.js";

/** @typedef {(ids: string[], after: () => void) => Promise<any>} Run */
/** @type {{word: string, isFinal?: boolean, isSafe?: boolean, fits?: (one: any) => boolean, run: Run}[]} */
const VERBS = [
  { word: "Clear", run: clear },
  { word: "Archive", fits: (one) => one.state !== "archived", run: planning("archive_session", "Archive", (ids) => `Archived ${what(ids)}.`) },
  { word: "Restore", fits: (one) => one.state === "archived", run: planning("restore_session", "Restore", (ids) => `Restored ${what(ids)}.`) },
  { word: "Export", isSafe: true, run: exported },
  { word: "Delete", isFinal: true, run: planning("delete_session", "Delete", (_, receipt) => proven(receipt), true) },
];

/** What this token may do to sessions, each to those that it fits; trouble is told, never swallowed.
 * @param {any[]} sessions @param {(word: string) => void} after */
export const deeds = (sessions, after) => VERBS.filter((verb) => verb.isSafe || canWrite()).flatMap(({ word, isFinal, fits = () => true, run }) => {
  const ids = sessions.filter(fits).map((one) => one.id);
  return ids.length ? [{ word, isFinal, label: `${word} ${what(ids)}…`, run: () => attempt(() => run(ids, () => after(word)), `${word} failed: `) }] : [];
});

/** Their buttons. */
export const Deeds = ({ all }) => all.map((deed) => html`<button key=${deed.word} class=${deed.isFinal ? "danger" : ""} onClick=${deed.run}>${deed.word}…</button>`);

/** Hide an entry; answers whether it was. */
export const hide = (session, entry, after) => attempt(async () => {
  const plan = await post("/plans", { action: "delete", selector: { session_id: session, ids: [entry.id] }, run: true });
  undoable({ id: plan.outcome.undo_id, label: `Hidden: ${titleOf(entry).slice(0, 60)}`, after });
  return true;
}, "Not hidden: ");

const what = (ids) => (ids.length === 1 ? ids[0] : plural(ids.length, "session"));

async function clear(ids, after) {
  const selector = { session_ids: ids };
  const done = await carryOut({ action: "clear_session", selector, title: `Clear ${what(ids)}`, verb: (counts) => `Hide ${entries(counts.entries)}`, other: "Erase for ever instead…" });
  if (done?.other) {
    const gone = await carryOut({ action: "clear_session", selector, options: { mode: "erase" }, title: `Clear ${what(ids)} for ever`, verb: (counts) => `Erase ${entries(counts.entries)}`, isFinal: true });
    if (gone) { toast(proven(gone.receipt)); after(); }
  } else if (done) {
    const label = `${entries(done.receipt?.hidden ?? 0)} hidden`;
    if (done.undo_id) undoable({ id: done.undo_id, label, after }); else toast(label);
    after();
  }
}

/** @returns {Run} what shows the plan, and says what came of it */
function planning(action, word, said, isFinal = false) {
  return async (ids, after) => {
    const done = await carryOut({ action, selector: { session_ids: ids }, title: `${word} ${what(ids)}`, verb: (counts) => `${word} ${plural(counts.sessions, "session")}`, isFinal });
    if (!done) return;
    toast(said(ids, done.receipt));
    after();
  };
}

const LAYOUTS = [["json", "JSON"], ["jsonl", "JSON lines"], ["markdown", "Markdown"]];

async function exported(ids) {
  const layout = signal("json");
  const Body = () => html`<${Select} label="Layout" value=${layout.value} options=${LAYOUTS} choose=${(one) => { layout.value = one; }} />`;
  const made = await confirm({ title: `Export ${what(ids)}`, sentence: `${plural(ids.length, "file")}, one for each session, handed to your browser. Nothing changes here.`, verb: `Export ${plural(ids.length, "session")}`, body: html`<${Body} />`, run: () => exports(ids, layout.value) });
  if (made) toast(`Exported ${plural(made.length, "session")}, ${bytes(made.reduce((all, one) => all + one.bytes, 0))}.`);
}

async function exports(ids, layout) {
  const made = [];
  for (const id of ids) {
    const job = await post("/exports", { layout, session_id: id });
    const result = await finished(job.id);
    made.push(result);
    const link = document.createElement("a");
    link.href = `/api/v1/downloads/${encodeURIComponent(result.ticket)}`;
    link.setAttribute("download", result.name);
    document.body.append(link);
    link.click();
    link.remove();
  }
  return made;
}

const POLL = 250, PATIENCE = 150;

/** Plan, show, run; answers the receipt, or null if it was left.
 * @param {{action: string, selector: any, options?: any, title: string, verb: (counts: any) => string, isFinal?: boolean, other?: string}} wish
 * `other` is the label of a button that leads elsewhere; then `{other: true}` is the answer. */
export async function carryOut({ action, selector, options = {}, title, verb, isFinal = false, other }) {
  let plan = await planned(title, { action, selector, options }), changed = "";
  while (plan) {
    const shown = plan, progress = signal(null);
    const outcome = await confirm({
      title, sentence: shown.sentence, verb: verb(shown.counts), isFinal, other,
      typed: shown.confirm === "count" ? String(shown.counts.entries) : undefined,
      body: html`<${Particulars} plan=${shown} changed=${changed} progress=${progress} />`,
      run: () => run(shown, progress),
    });
    if (!outcome?.again) return outcome;
    plan = outcome.again;
    changed = "Something changed since this was planned, so nothing was done. These are the new numbers.";
  }
  return null;
}

/** A plan; a dialog says so where counting takes a while. Null if nobody waited for it. */
async function planned(title, wish) {
  const plan = post("/plans", wish), late = new Promise((done) => setTimeout(done, PATIENCE, true));
  return await Promise.race([plan.then(() => false), late]) ? confirm({ title, sentence: "Counting what this would change…", wait: plan }) : plan;
}

async function run(plan, progress) {
  try {
    const outcome = await post(url`/plans/${plan.plan_id}/run`, { confirm: plan.confirm === "count" ? plan.counts.entries : true });
    return outcome.job_id ? { ...outcome, receipt: await finished(outcome.job_id, (job) => { progress.value = job; }) } : outcome;
  } catch (problem) {
    const again = problem.status === 409 && problem.told.plan;
    if (again) return { again };
    throw problem;
  }
}

/** Wait for a job; what came of it, or its error. @param {string} id @param {(job: any) => void} [tell] */
async function finished(id, tell = () => {}) {
  for (;;) {
    const job = await get(url`/jobs/${id}`);
    tell(job);
    if (job.state === "done") return job.result ?? {};
    if (!["queued", "running"].includes(job.state)) throw Object.assign(new Error(job.error?.detail ?? `The job is ${job.state}.`), { advice: job.error?.advice ?? "", code: job.error?.code ?? "" });
    await new Promise((done) => setTimeout(done, POLL));
  }
}

function Particulars({ plan, changed, progress }) {
  const types = Object.entries(plan.counts.by_type ?? {});
  const job = progress.value;
  return html`${changed && html`<p class="warn">${changed}</p>`}
    <p class="small quiet">${types.map(([type, many]) => `${type} ${count(many)}`).join(" · ")}${plan.counts.bytes ? ` · ${bytes(plan.counts.bytes)}` : ""}</p>
    ${plan.files.length > 0 && html`<details><summary>${plural(plan.files.length, "file")}</summary><ul class="plain small mono">${plan.files.slice(0, 50).map((name) => html`<li key=${name}>${name}</li>`)}</ul></details>`}
    ${plan.unreachable.length > 0 && html`<p class="warn">Out of reach: ${plan.unreachable.join(", ")}</p>`}
    ${job && html`<${Progress} job=${job} step=${job.step || job.state} />`}`;
}
