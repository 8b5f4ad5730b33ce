// What changes or removes something is planned by the server, shown, and run as it was shown.
import { html, signal } from "../vendor/preact.js";
import { get, post, url } from "./api.js";
import { bytes, count, plural } from "./format.js";
import { confirm } from "../parts/dialog.js";

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
export async function finished(id, tell = () => {}) {
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
    ${job && html`<progress max=${job.total || 1} value=${job.done}></progress><p class="small quiet">${job.step || job.state} ${count(job.done)} of ${count(job.total)} ${job.unit}</p>`}`;
}
