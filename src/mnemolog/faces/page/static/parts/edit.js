// Writing a node: with a preview, against the text it was made from, as a draft that is never lost.
import { html, useEffect, useRef, useState } from "../vendor/preact.js";
import { call, get } from "../lib/api.js";
import { draftOf, keepDraft } from "../lib/draft.js";
import { ago } from "../lib/format.js";
import { useEvents } from "../lib/live.js";
import { Markdown } from "../lib/markdown.js";
import { bodyOf, nodeUrl } from "../lib/nodes.js";
import { sending, useTask } from "../lib/task.js";
import { Conflict } from "./conflict.js";
import { Trouble } from "./trouble.js";

/** @param {{user: string, node?: any, link: any, saved: (receipt: any) => void, leave: () => void, wished?: string}} props without a node, a new one */
export function Edit({ user, node, link, saved, leave, wished }) {
  const name = `${user}/${node?.path ?? ""}`;
  const [draft, set] = useState(() => draftOf(name) ?? fresh(node, wished));
  const [kept] = useState(() => draftOf(name)?.at);
  const { isBusy, trouble, run } = useTask();
  const [theirs, differ] = useState();
  const [hasMoved, moved] = useState(false);
  const box = useRef();
  const path = node?.path ?? draft.path.trim().replace(/\.md$/, "");
  const isTouched = draft.body !== draft.base.body || draft.title !== draft.base.title || draft.description !== draft.base.description || Boolean(draft.path && !node);
  useEffect(() => { box.current?.focus(); }, []);
  useEffect(() => { if (isTouched) keepDraft(name, draft); }, [draft]);
  useEvents(["node"], (events) => { if (events.some((one) => one.path === path)) moved(true); });
  const change = (name) => (event) => set({ ...draft, [name]: event.currentTarget.value });
  const save = (body, hash) => run(async () => {
    try {
      const receipt = await call("PUT", nodeUrl(user, path), { body: { body, title: draft.title || null, description: draft.description || null, reason: draft.reason }, headers: hash ? { "if-match": `"${hash}"` } : {} });
      keepDraft(name, null);
      saved(receipt);
    } catch (error) { if (error.status === 412) await meet(error, body); else throw error; }
  });
  const meet = async (error, mine) => {
    const now = await get(nodeUrl(user, path)).catch(() => ({ body: bodyOf(error.told.theirs ?? ""), hash: error.told.hash ?? "" }));
    set((before) => ({ ...before, body: mine }));
    differ({ body: now.body, hash: now.hash });
  };
  const send = sending(() => save(draft.body, draft.base.hash));
  const drop = () => { keepDraft(name, null); leave(); };
  if (theirs) return html`<${Conflict} key=${theirs.hash} base=${draft.base.body} theirs=${theirs.body} mine=${draft.body} isBusy=${isBusy} done=${(text) => save(text, theirs.hash)} leave=${() => differ(null)} />
    <${Trouble} trouble=${trouble} />`;
  return html`<form class="stack" aria-label=${node ? "Edit the node" : "New node"} onSubmit=${send} onKeyDown=${(event) => event.key === "Enter" && (event.ctrlKey || event.metaKey) && send(event)}>
    ${kept && html`<p class="small">This is your draft of ${ago(kept)}; it was not saved. <button type="button" class="bare" onClick=${() => { keepDraft(name, null); set(fresh(node)); }}>Begin anew</button></p>`}
    ${hasMoved && html`<p class="warn small" role="status">The node has changed meanwhile. When you save, both texts are shown side by side.</p>`}
    <div class="fields">${!node && html`<label class="field">Address<input required value=${draft.path} onInput=${change("path")} placeholder="projects/payment-system" autocomplete="off" /></label>`}
      <label class="field">Title<input value=${draft.title} onInput=${change("title")} /></label>
      <label class="field">Description<input value=${draft.description} onInput=${change("description")} placeholder="one line, for lists" /></label></div>
    <div class="columns"><label class="field">Text, as Markdown<textarea ref=${box} class="mono" rows="14" value=${draft.body} onInput=${change("body")} spellcheck="true"></textarea></label>
      <div class="field"><span>Preview</span><div class="card preview"><${Markdown} text=${draft.body} link=${link} /></div></div></div>
    <label class="field">Why<input value=${draft.reason} onInput=${change("reason")} placeholder="kept with the version" /></label>
    <${Trouble} trouble=${trouble} />
    <div class="row"><button class="main" disabled=${isBusy || !path || !isTouched}>${isBusy ? "Saving…" : "Save"}</button><button type="button" onClick=${drop}>${isTouched ? "Discard the draft" : "Close"}</button>
      <span class="small quiet">Ctrl Enter saves; a draft is kept on this device until then.</span></div></form>`;
}

const fresh = (node, wished) => ({ path: wished && wished !== "1" ? wished : "", title: node?.title ?? "", description: node?.description ?? "", body: node?.body ?? "", reason: "", base: { hash: node?.hash ?? "", title: node?.title ?? "", description: node?.description ?? "", body: node?.body ?? "" } });
