// What waits for a person's yes: what it would change, what it rests on; and what the worker gave up.
import { html, useRef, useState } from "../vendor/preact.js";
import { canWrite, get, has, post, url } from "../lib/api.js";
import { keepDraft, useDraft } from "../lib/draft.js";
import { ago, entries, ORIGINS, plural, titleOf, typing, whole } from "../lib/format.js";
import { step, useKeys } from "../lib/keys.js";
import { useGet } from "../lib/load.js";
import { Markdown } from "../lib/markdown.js";
import { bodyOf, linking, nodeHref, nodeUrl, Source } from "../lib/nodes.js";
import { entryHref, href, route } from "../lib/route.js";
import { useMeeting } from "../parts/conflict.js";
import { confirm } from "../parts/dialog.js";
import { Diff } from "../parts/diff.js";
import { bdi, Glyph } from "../parts/glyph.js";
import { Parked } from "../parts/parked.js";
import { toast } from "../parts/toast.js";
import { Loaded, Trouble } from "../parts/trouble.js";

export function View() {
  return route.value.query.agent ? html`<h1>Review</h1><p class="empty">What waits for a yes concerns people, whichever agent said it. <a href=${href(["review"], { agent: "" })}>Show it for all agents</a>.</p>` : html`<${Waiting} />`;
}
View.title = "Review";

function Waiting() {
  const load = useGet("/review", { limit: 200 }, ["review", "worker"]);
  const head = useRef();
  const move = (by) => step([...document.querySelectorAll(".proposal")], by);
  const press = (name) => /** @type {any} */ ((document.activeElement?.closest(".proposal") ?? document.querySelector(".proposal"))?.querySelector(`[data-do="${name}"]`))?.click();
  useKeys({ j: ["Next proposal", () => move(1)], k: ["Previous proposal", () => move(-1)], a: ["Accept the proposal", () => press("accept")], e: ["Edit the proposal", () => press("edit")] });
  const judged = () => { load.again(); head.current?.focus(); };
  return html`<div class="head"><h1 tabindex="-1" ref=${head}>Review</h1></div>
    <${Loaded} load=${load}>${(found) => found.items.length === 0 ? html`<p class="empty">Nothing waits for your yes. What agents learned from tools, and whatever would change SOUL.md or AGENTS.md, comes here first.</p>` : html`
      <p class="quiet">${plural(found.total, "proposal")} ${found.total === 1 ? "waits" : "wait"} for your yes, oldest first.</p>
      <div class="stack">${found.items.map((one) => html`<${Proposal} key=${one.id} one=${one} judged=${judged} />`)}</div>`}</>
    ${has("worker") && html`<${GivenUp} />`}`;
}

function Proposal({ one, judged }) {
  const name = `review ${one.id}`;
  const [text, type] = useDraft(name, one.body);
  const [mode, set] = useState(text === one.body ? "" : "edit");
  const write = async (body, expected) => {
    const done = await post(url`/review/${one.id}`, { verdict: "accept", body, expected });
    toast(`${done.path} is at v${done.version}.`);
    keepDraft(name, null);
    judged();
  };
  /** The node is not the one that was seen: what the proposal was made from, what is there, what it says. */
  const meet = async (_, mine = text) => {
    type(mine);
    const node = await get(nodeUrl(one.user, one.target)).catch(() => ({ body: "", hash: "" }));
    const { items } = await get(`${nodeUrl(one.user, one.target)}/versions`);
    const from = items.find((version) => version.hash === one.base_hash);
    const base = from ? bodyOf((await get(`${nodeUrl(one.user, one.target)}/versions/${from.n}`)).text) : "";
    return { base, theirs: node.body, mine, mark: node.hash };
  };
  const { isBusy, trouble, save, sides } = useMeeting(write, meet, "Accept this text");
  const reject = async () => {
    const done = await confirm({ title: "Reject the proposal", sentence: html`Nothing is written to <bdi>${one.target}</bdi>. That it was rejected, and why, stands in the audit.`, verb: "Reject it",
      asks: "Why", run: (reason) => post(url`/review/${one.id}`, { verdict: "reject", reason }) });
    if (done) { keepDraft(name, null); toast("Rejected."); judged(); }
  };
  return html`<article class="card stack proposal" tabindex="-1" aria-label=${`Proposal for ${one.target}`}>
    <div class="row"><h2><a href=${nodeHref(one.user, one.target)}>${bdi(one.title || one.target, 160)}</a></h2><small>of ${bdi(one.user, 60)} · by ${bdi(one.distiller, 60)} · <span title=${whole(one.created_at)}>${ago(one.created_at)}</span></small></div>
    <p><strong>${bdi(one.reason, 400)}</strong> <span class="quiet">It waits because ${bdi(one.why, 300)}.</span></p>
    ${one.is_overtaken && !sides && html`<p class="warn">${bdi(one.target, 160)} has changed since. Shown is what this would change in the text of then; Accept puts it beside what is there now.</p>`}
    ${sides ? sides : mode === "edit" ? html`<div class="columns"><label class="field">Text to be written instead<textarea class="mono" rows="10" value=${text} onInput=${typing(type)}></textarea></label><div class="field"><span>Preview</span><div class="card preview"><${Markdown} text=${text} link=${linking(one.user, [])} /></div></div></div>` : html`<${Diff} hunks=${one.diff} label=${`What it would change in ${one.target}`} />`}
    <${Sources} sources=${one.sources} />
    <${Trouble} trouble=${trouble} />
    ${canWrite() && !sides && html`<div class="row"><button class="main" data-do="accept" disabled=${isBusy} onClick=${() => save(mode === "edit" && text !== one.body ? text : undefined, one.base_hash)}>${isBusy ? "Writing…" : mode === "edit" ? "Accept this text" : "Accept"}</button>
      <button data-do="edit" aria-pressed=${mode === "edit"} disabled=${isBusy} onClick=${() => set(mode === "edit" ? "" : "edit")}>${mode === "edit" ? "Show the changes" : "Edit"}</button><button class="danger" disabled=${isBusy} onClick=${reject}>Reject…</button></div>`}</article>`;
}

const Sources = ({ sources }) => sources.length > 0 && html`<div><h3 class="quiet">Rests on ${entries(sources.length)}</h3><ul class="plain sources">${sources.slice(0, 20).map((one) => html`<${Rest} key=${`${one.session_id}/${one.entry_id}`} one=${one} />`)}</ul></div>`;

function Rest({ one }) {
  const load = useGet(url`/sessions/${one.session_id}/entries/${one.entry_id}`);
  const entry = load.value?.entry;
  return html`<li class="row">${entry ? html`<${Glyph} type=${entry.type} /><a href=${entryHref(one.session_id, one.entry_id)}>${bdi(titleOf(entry), 160)}</a>` : html`<${Source} source=${`${one.session_id}/${one.entry_id}`} isWhole />`}
    <small>${load.trouble ? "it is gone or hidden" : ORIGINS[one.origin] ?? one.origin}</small></li>`;
}

function GivenUp() {
  const load = useGet("/worker", {}, ["worker"]);
  return load.value?.parked.length > 0 && html`<hr /><section class="stack" aria-label="Parked sessions"><h2>Parked sessions</h2><${Parked} parked=${load.value.parked} again=${load.again} /></section>`;
}
