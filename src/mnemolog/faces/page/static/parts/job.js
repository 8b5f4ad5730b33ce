// A job: how far it is, and what came of it. It goes on when the page is closed.
import { html, useEffect, useState } from "../vendor/preact.js";
import { get, post, url } from "../lib/api.js";
import { bytes, count, entries, plural } from "../lib/format.js";
import { useEvents } from "../lib/live.js";

const POLL = 1000;

export function Job({ id, first, children }) {
  const [job, set] = useState(first ?? null);
  const read = () => get(url`/jobs/${id}`).then(set, () => {});
  useEvents(["job"], (events) => { if (events.some((one) => one.id === id || one.topic === "resync")) read(); });
  useEffect(() => {
    read();
    const timer = setInterval(read, POLL);
    return () => clearInterval(timer);
  }, [id]);
  if (!job) return null;
  const isOpen = ["queued", "running"].includes(job.state);
  return html`<section class="card stack" aria-label=${job.action}>
    <div class="row"><strong>${job.action}</strong><span class="chip">${job.state}</span><small>${job.step}</small>
      ${isOpen && html`<button class="bare" onClick=${() => post(url`/jobs/${id}/cancel`).then(set).catch(() => {})}>Cancel</button>`}</div>
    ${isOpen && html`<${Progress} job=${job} />`}
    ${job.error && html`<p class="danger">${job.error.detail} ${job.error.advice}</p>`}
    ${job.state === "done" && (children?.(job) ?? null)}</section>`;
}

/** How far a job is. */
export const Progress = ({ job, step = "" }) => html`<progress max=${job.total || 1} value=${job.done}></progress><p class="small quiet">${step} ${count(job.done)} of ${count(job.total)} ${job.unit}</p>`;

/** What a scan of every byte found. */
export const Proof = ({ proof, erased }) => html`<div class="stack">
  <p class=${proof.clean ? "ok" : "danger"}><strong>${proof.clean ? "✓ Nothing is left" : "✕ Something is left"}</strong>
    ${erased !== undefined && ` · ${entries(erased)} erased`} · ${plural(proof.files, "file")} and ${bytes(proof.bytes)} looked through${proof.elsewhere ? ` · ${count(proof.elsewhere)} of the same words in other entries` : ""}</p>
  ${proof.places?.length > 0 && html`<table class="bars rules"><caption>What is left, by place</caption><tbody>${proof.places.map((one) => html`<tr key=${one.place}><th scope="row">${one.place}</th><td class="num">${plural(one.hits, "hit")}</td></tr>`)}</tbody></table>`}
  ${proof.traces?.length > 0 && html`<ul>${proof.traces.map((one, at) => html`<li key=${at}><code>${one}</code></li>`)}</ul>`}
  ${proof.unreachable?.length > 0 ? html`<p class="warn">Out of reach: ${proof.unreachable.join(", ")}. Remove or replace these backups by hand.</p>` : html`<p class="small quiet">Nothing is out of reach: there is no backup that the store knows of.</p>`}
</div>`;

/** The same in a sentence, after a dialog. */
export const proven = (receipt) => `${entries(receipt?.erased ?? 0)} erased. ${plural(receipt?.proof?.files ?? 0, "file")} looked through, ${plural(receipt?.proof?.traces?.length ?? 0, "trace")} left.`;
