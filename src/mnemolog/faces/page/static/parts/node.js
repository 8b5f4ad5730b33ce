// One node: its text, what it rests on, who links to it, and what it was before.
import { html, useState } from "../vendor/preact.js";
import { call, canWrite, post } from "../lib/api.js";
import { draftOf } from "../lib/draft.js";
import { ago, count, plural, whole } from "../lib/format.js";
import { useKeys } from "../lib/keys.js";
import { useGet } from "../lib/load.js";
import { Markdown, wikis } from "../lib/markdown.js";
import { nodeHref, nodeUrl, Source } from "../lib/nodes.js";
import { go, href, route } from "../lib/route.js";
import { confirm } from "./dialog.js";
import { Edit } from "./edit.js";
import { facts, words } from "./entry.js";
import { bdi } from "./glyph.js";
import { useActions } from "./menu.js";
import { toast } from "./toast.js";
import { Loaded } from "./trouble.js";
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
      <div class="head"><h1>${bdi(node.title, 200)}</h1><span class="small quiet" title=${whole(node.updated_at)}>v${node.version} · ${ago(node.updated_at)}</span>
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
  let to = node.path;
  const done = await confirm({
    title: "Move", sentence: "Its versions go along, and links to it by address are mended.", verb: "Move",
    body: html`<label class="field">New address<input defaultValue=${node.path} onInput=${(event) => { to = event.currentTarget.value; }} autocomplete="off" /></label>`,
    run: () => post(`${nodeUrl(user, node.path)}/move`, { to: to.trim(), reason: "moved" }),
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
  toast(`${node.path} is deleted.`, { action: "Undo", run: () => post(`${nodeUrl(user, node.path)}/versions/${node.version}/revert`, { reason: "undo" }).then(changed, (error) => toast(error.message)) });
  changed();
}
