// What has been learned: the tree, a node, and the graph as a picture.
import { html, useMemo } from "../vendor/preact.js";
import { canWrite, get, me, url } from "../lib/api.js";
import { ago, plural, whole } from "../lib/format.js";
import { useKeys } from "../lib/keys.js";
import { useLoad } from "../lib/load.js";
import { linking, nodeHref } from "../lib/nodes.js";
import { go, here, href, route } from "../lib/route.js";
import { choice, Select } from "../parts/choices.js";
import { waitingProposals } from "../parts/frame.js";
import { bdi } from "../parts/glyph.js";
import { Graph } from "../parts/graph.js";
import { Edit, Node } from "../parts/node.js";
import { toast } from "../parts/toast.js";
import { Tree } from "../parts/tree.js";
import { Loaded } from "../parts/trouble.js";

/** The nodes of the user in the address, else of the scope, else of the first who has some, or who is talked with. */
async function nodesOf(named, stop) {
  const wanted = named || route.peek().query.user || me.peek()?.scope?.users?.[0];
  const read = (user) => get(url`/nodes/${user}`, {}, stop);
  const found = await read(wanted || "default");
  if (wanted || found.items.length) return found;
  const [first = Object.keys((await get("/sessions", { limit: 1 }, stop)).facets.users)[0]] = found.users;
  return first ? read(first) : found;
}

export function View() {
  const [, named, ...parts] = route.value.path;
  const path = parts.join("/");
  const load = useLoad((stop) => nodesOf(named, stop), ["nodes", named ?? ""], ["node"]);
  return html`<${Loaded} load=${load} rows=${10}>${(found) => html`<${Shelf} found=${found} path=${path} again=${load.again} />`}</>`;
}
View.title = "Knowledge";

function Shelf({ found, path, again }) {
  const { user, items } = found;
  const { view, flag, new: wished } = route.value.query;
  const link = useMemo(() => linking(user, items), [user, items]);
  const isGraph = view === "graph" && !path, isNew = wished !== undefined && !path && canWrite();
  useKeys({ n: ["New node", () => go(href(["knowledge", user], { new: 1 }))] });
  const saved = (receipt) => { again(); toast(`Saved as v${receipt.version}.`); go(nodeHref(user, receipt.path)); };
  return html`<div class="knowledge" data-has=${path || isNew ? "node" : isGraph ? "graph" : "tree"}>
    <aside aria-label="Nodes"><${Places} found=${found} isGraph=${isGraph} />
      <${Flags} items=${items} flag=${flag} />${items.length > 0 && html`<${Tree} key=${user} user=${user} leaves=${items} here=${path} flag=${flag} />`}</aside>
    <div class="pane">${isNew ? html`<h1>New node</h1><${Edit} key="new" user=${user} link=${link} saved=${saved} leave=${() => go(href(["knowledge", user]))} wished=${wished} />`
      : isGraph ? html`<${Graph} user=${user} leaves=${items} />`
      : path ? html`<${Node} key=${`${user}/${path}`} user=${user} path=${path} link=${link} leaves=${items} changed=${again} />`
      : html`<${Opening} user=${user} items=${items} />`}</div></div>`;
}

function Places({ found, isGraph }) {
  const { user, users } = found;
  return html`<div class="row">${users.length > 1 || !users.includes(user) ? html`<${Select} label="Of" value=${user} options=${[...new Set([...users, user])].map((one) => [one, one])} choose=${(one) => go(href(["knowledge", one]))} />` : html`<strong>${bdi(user, 40)}</strong>`}
    ${choice("tree", href(["knowledge", user]), !isGraph)}${choice("graph", href(["knowledge", user], { view: "graph", center: route.value.path.slice(2).join("/") }), isGraph)}
    ${canWrite() && choice("new node", href(["knowledge", user], { new: 1 }))}
    ${waitingProposals.value > 0 && choice(`review ${waitingProposals.value}`, href(["review"]), false, { class: "chip choice narrow" })}</div>`;
}

function Flags({ items, flag }) {
  const counts = new Map();
  for (const one of items) for (const name of one.flags) counts.set(name, (counts.get(name) ?? 0) + 1);
  if (!counts.size && !flag) return null;
  return html`<div class="row" role="group" aria-label="Flags">${[...counts].map(([name, many]) => choice(html`<span class="warn" aria-hidden="true">▲</span>${bdi(name, 40)} ${many}`, here({ flag: name === flag ? "" : name }), name === flag))}</div>`;
}

function Opening({ user, items }) {
  if (!items.length) return html`<h1>Knowledge</h1><p class="empty">Nothing has been learned about ${bdi(user, 60)} yet. Finished sessions become nodes when the worker looks at them${canWrite() ? html`, or <a href=${href(["knowledge", user], { new: 1 })}>write the first node</a> yourself` : ""}.</p>`;
  const latest = items.toSorted((one, other) => other.updated_at - one.updated_at).slice(0, 12);
  return html`<h1>What is known about ${bdi(user, 60)}</h1><p class="quiet">${plural(items.length, "node")}.<span class="wider"> Changed last:</span></p>
    <ul class="plain latest">${latest.map((one) => html`<li key=${one.path}><a href=${nodeHref(user, one.path)}>${bdi(one.title || one.path, 120)}</a> <span class="small faint"><span class="mono">${bdi(one.path, 120)}</span> · <span title=${whole(one.updated_at)}>${ago(one.updated_at)}</span></span>${one.description && html`<p class="quiet small">${bdi(one.description, 200)}</p>`}</li>`)}</ul>`;
}
