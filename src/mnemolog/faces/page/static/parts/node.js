// One node: its text, what it rests on, who links to it; and writing it, against the text it was made from.
import { html, useEffect, useRef, useState } from "../vendor/preact.js";
import { call, canWrite, get, post } from "../lib/api.js";
import { discard, draftOf, keepDraft } from "../lib/draft.js";
import { ago, count, plural, whole, words } from "../lib/format.js";
import { useKeys } from "../lib/keys.js";
import { useEvents } from "../lib/live.js";
import { sending, useGet } from "../lib/load.js";
import { Markdown, wikis } from "../lib/markdown.js";
import { bodyOf, nodeHref, nodeUrl, Source } from "../lib/nodes.js";
import { go, href, route } from "../lib/route.js";
import { useMeeting } from "./conflict.js";
import { confirm } from "./dialog.js";
import { facts } from "./entry.js";
import { useActions } from "./frame.js";
import { bdi } from "./glyph.js";
import { toast, undoable } from "./toast.js";
import { Loaded, Trouble } from "./trouble.js";
import { Versions } from "./versions.js";

const LISTED = 100;

export function Node({ user, path, link, leaves, changed }) {
  const isEditing = route.value.query.edit === "1" && canWrite();
  // While somebody types, nothing is read anew under them: a save tells what changed meanwhile.
  const load = useGet(nodeUrl(user, path), {}, isEditing ? [] : ["node"]);
  const again = () => { load.again(); changed(); };
  useKeys({
    e: ["Edit the node", () => go(nodeHref(user, path, { edit: 1 }))],
    "[": ["Previous node", () => step(-1)], "]": ["Next node", () => step(1)],
  });
  const step = (by) => { const at = leaves.findIndex((one) => one.path === path), next = leaves[at + by]; if (next) go(nodeHref(user, next.path)); };
  if (load.trouble?.status === 404) return html`<${Gone} user=${user} path=${path} changed=${again} />`;
  return html`<${Loaded} load=${load} rows=${6}>${(node) => (isEditing
    ? html`<${Crumbs} user=${user} path=${path} /><h1>${bdi(node.title, 200)}</h1><${Edit} key=${path} user=${user} node=${node} link=${link} leave=${() => go(nodeHref(user, path))} saved=${(receipt) => { toast(receipt.status === "unchanged" ? "Nothing was changed." : `Saved as v${receipt.version}.${receipt.redactions.length ? ` ${plural(receipt.redactions.length, "secret")} hidden.` : ""}`); again(); go(nodeHref(user, path)); }} />`
    : html`<${Shown} node=${node} user=${user} link=${link} changed=${again} />`)}</>`;
}

const Crumbs = ({ user, path }) => html`<p class="small quiet"><a href=${href(["knowledge", user])}>${bdi(user, 60)}</a>${path.split("/").slice(0, -1).map((name, at) => html` / ${bdi(name, 60)}`)} / <code>${bdi(path.split("/").at(-1), 100)}</code></p>`;

function Shown({ node, user, link, changed }) {
  const { path } = node;
  useActions([["Edit this node", () => go(nodeHref(user, path, { edit: 1 }))], ["Move this node…", () => move(user, node, changed)], ["Delete this node…", () => remove(user, node, changed)], ["Show what is near this node", () => go(href(["knowledge", user], { view: "graph", center: path }))]], [user, path, node.hash]);
  return html`<article class="node stack"><header><${Crumbs} user=${user} path=${path} />
      <div class="head"><h1>${bdi(node.title, 200)}</h1><small title=${whole(node.updated_at)}>v${node.version} · ${ago(node.updated_at)}</small>
        ${canWrite() && html`<a class="button" href=${nodeHref(user, path, { edit: 1 })}>Edit</a>`}<a class="button" href=${href(["knowledge", user], { view: "graph", center: path })}>What is near</a>
        ${canWrite() && html`<button onClick=${() => move(user, node, changed)}>Move…</button><button class="danger" onClick=${() => remove(user, node, changed)}>Delete…</button>`}</div>
      ${node.description && html`<p class="quiet">${bdi(node.description, 400)}</p>`}
      ${draftOf(`${user}/${path}`) && html`<p class="warn small">You have a draft of this node that is not saved. <a href=${nodeHref(user, path, { edit: 1 })}>Go on with it</a></p>`}
      ${node.flags.length + node.parents.length > 0 && html`<p class="row small">${node.flags.map((flag) => html`<span key=${flag} class="chip warn">${bdi(flag, 40)}</span>`)}${node.parents.map((parent) => html`<a key=${parent} class="chip" href=${nodeHref(user, parent)}>part of ${bdi(parent, 80)}</a>`)}</p>`}</header>
    <div class="paper">${node.body.trim() ? html`<${Markdown} text=${node.body} link=${link} />` : html`<p class="quiet">This node has no text yet.</p>`}</div>
    <${Front} fields=${node.front_matter} />
    <div class="columns"><${Quotes} user=${user} title="Backlinks" rows=${node.backlinks} none="No node links here." link=${link} /><${Quotes} user=${user} title="Mentions" rows=${node.mentions} none="No node says this title without a link." link=${link} /></div>
    <div class="columns"><section aria-label="Sources"><h2>Sources <span class="faint">${count(node.sources.length)}</span></h2>${node.sources.length ? html`<ul class="plain">${node.sources.slice(0, LISTED).map((one) => html`<li key=${one}><${Source} source=${one} isWhole /></li>`)}</ul>` : html`<p class="quiet">It rests on no entry: somebody wrote it.</p>`}</section>
      <${Outgoing} user=${user} rows=${node.outgoing} /></div>
    <${Versions} user=${user} path=${path} hash=${node.hash} stamp=${node.hash} changed=${changed} /></article>`;
}

function Front({ fields }) {
  const known = Object.entries(fields ?? {});
  return known.length > 0 && html`<details><summary class="small quiet">${plural(known.length, "more field")} in the front matter</summary>${facts(known.slice(0, LISTED).map(([name, value]) => [bdi(name, 80), bdi(words(value), 2000)]))}</details>`;
}

function Quotes({ user, title, rows, none, link }) {
  const [isAll, all] = useState(false);
  return html`<section aria-label=${title}><h2>${title} <span class="faint">${count(rows.length)}</span></h2>${rows.length === 0 ? html`<p class="quiet">${none}</p>` : html`<ul class="plain quotes">${rows.slice(0, isAll ? 1000 : 20).map((one, at) => html`<li key=${at}><a href=${nodeHref(user, one.path)}>${bdi(one.title || one.path, 120)}</a><p class="quiet">${wikis(one.context.replace(/^[-*] /, ""), link)}</p></li>`)}</ul>`}
    ${rows.length > 20 && !isAll && html`<button class="bare" onClick=${() => all(true)}>All ${count(rows.length)}</button>`}</section>`;
}

const Outgoing = ({ user, rows }) => html`<section aria-label="Links"><h2>Links <span class="faint">${count(rows.length)}</span></h2>${rows.length === 0 ? html`<p class="quiet">It links to nothing.</p>` : html`<ul class="plain outgoing">${rows.slice(0, LISTED).map((one) => html`<li key=${one.path}>${one.exists
  ? html`<a href=${nodeHref(user, one.path)}>${bdi(one.path, 120)}</a>` : html`<span class="dead">${bdi(one.path, 120)}</span> <span class="small danger">leads nowhere</span>`}</li>`)}</ul>`}</section>`;

function Gone({ user, path, changed }) {
  return html`<${Crumbs} user=${user} path=${path} /><h1>No node is here</h1>
    <p>There is no <code>${bdi(path, 200)}</code>. ${canWrite() && html`<a href=${href(["knowledge", user], { new: path })}>Write it</a>, or go back to one of its versions, if it has any.`}</p>
    <${Versions} user=${user} path=${path} stamp="gone" changed=${changed} />`;
}

async function move(user, node, changed) {
  const done = await confirm({
    title: "Move", sentence: "Its versions go along, and links to it by address are mended.", verb: "Move", asks: "New address", first: node.path,
    run: (to) => post(`${nodeUrl(user, node.path)}/move`, { to, reason: "moved" }),
  });
  if (!done) return;
  toast(`Moved to ${done.path}.`);
  changed();
  go(nodeHref(user, done.path));
}

async function remove(user, node, changed) {
  const done = await confirm({
    title: "Delete", sentence: html`Delete <bdi>${node.path}</bdi>: ${plural(node.backlinks.length, "link")} will lead nowhere. Its ${plural(node.version, "version")} stay, and can be made the text again.`, verb: "Delete this node", isFinal: true,
    run: () => call("DELETE", nodeUrl(user, node.path), { headers: { "if-match": `"${node.hash}"` } }),
  });
  if (!done) return;
  undoable({ label: `${node.path} is deleted.`, back: () => post(`${nodeUrl(user, node.path)}/versions/${node.version}/revert`, { reason: "undo" }), after: changed });
  changed();
}

/** @param {{user: string, node?: any, link: any, saved: (receipt: any) => void, leave: () => void, wished?: string}} props without a node, a new one */
export function Edit({ user, node, link, saved, leave, wished }) {
  const name = `${user}/${node?.path ?? ""}`;
  const [draft, set] = useState(() => draftOf(name) ?? fresh(node, wished));
  const [kept] = useState(() => draftOf(name)?.at);
  const [hasMoved, moved] = useState(false);
  const box = useRef(), first = useRef();
  const path = node?.path ?? draft.path.trim().replace(/\.md$/, "");
  const isTouched = ["body", "title", "description"].some((one) => draft[one] !== draft.base[one]) || Boolean(draft.path && !node);
  useEffect(() => (path ? box : first).current?.focus(), []);
  useEffect(() => keepDraft(name, isTouched ? draft : null), [draft]);
  useEvents(["node"], (events) => { if (events.some((one) => one.path === path)) moved(true); });
  const change = (name) => (event) => set({ ...draft, [name]: event.currentTarget.value });
  const write = async (body, hash) => {
    const receipt = await call("PUT", nodeUrl(user, path), { body: { body, title: draft.title || null, description: draft.description || null, reason: draft.reason }, headers: hash ? { "if-match": `"${hash}"` } : {} });
    keepDraft(name, null);
    saved(receipt);
  };
  const meet = async (error, body) => {
    const now = await get(nodeUrl(user, path)).catch(() => ({ body: bodyOf(error.told.theirs ?? ""), hash: error.told.hash ?? "" }));
    set((before) => ({ ...before, body }));
    return { base: draft.base.body, theirs: now.body, mark: now.hash };
  };
  const { isBusy, trouble, save, sides } = useMeeting(write, meet);
  const send = sending(() => save(draft.body, draft.base.hash));
  const drop = () => { discard(name, () => go(node ? nodeHref(user, path, { edit: 1 }) : href(["knowledge", user], { new: 1 }))); leave(); };
  const beginAnew = () => { discard(name, () => set(draft)); set(fresh(node)); };
  if (sides) return html`${sides}<${Trouble} trouble=${trouble} />`;
  return html`<form class="stack" aria-label=${node ? "Edit the node" : "New node"} onSubmit=${send} onKeyDown=${(event) => event.key === "Enter" && (event.ctrlKey || event.metaKey) && send(event)}>
    ${kept && html`<p class="small">This is your draft of ${ago(kept)}; it was not saved. <button type="button" class="bare" onClick=${beginAnew}>Begin anew</button></p>`}
    ${hasMoved && html`<p class="warn small" role="status">The node has changed meanwhile. When you save, both texts are shown side by side.</p>`}
    <div class="fields">${!node && html`<label class="field">Address<input ref=${first} required value=${draft.path} onInput=${change("path")} placeholder="projects/payment-system" autocomplete="off" /></label>`}
      <label class="field">Title<input value=${draft.title} onInput=${change("title")} /></label>
      <label class="field">Description<input value=${draft.description} onInput=${change("description")} placeholder="one line, for lists" /></label></div>
    <div class="columns"><label class="field">Text, as Markdown<textarea ref=${box} class="mono" rows="14" value=${draft.body} onInput=${change("body")} spellcheck="true"></textarea></label>
      <div class="field"><span>Preview</span><div class="card preview"><${Markdown} text=${draft.body} link=${link} /></div></div></div>
    <label class="field">Why<input value=${draft.reason} onInput=${change("reason")} placeholder="kept with the version" /></label>
    <${Trouble} trouble=${trouble} />
    <div class="row"><button class="main" disabled=${isBusy || !path || !isTouched}>${isBusy ? "Saving…" : "Save"}</button><button type="button" onClick=${drop}>${isTouched ? "Discard the draft" : "Close"}</button>
      <small>Ctrl Enter saves; a draft is kept on this device until then.</small></div></form>`;
}

function fresh(node, wished) {
  const { hash = "", title = "", description = "", body = "" } = node ?? {};
  const base = { hash, title, description, body };
  return { ...base, base, path: wished && wished !== "1" ? wished : "", reason: "" };
}
