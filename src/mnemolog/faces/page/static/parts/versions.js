// Every version of a node with its reason; what one changed; and the way back to it.
import { html, useEffect, useRef } from "../vendor/preact.js";
import { canWrite, post } from "../lib/api.js";
import { ago, whole } from "../lib/format.js";
import { useGet } from "../lib/load.js";
import { nodeHref, nodeUrl, Source } from "../lib/nodes.js";
import { route } from "../lib/route.js";
import { choice } from "./choices.js";
import { confirm } from "./dialog.js";
import { Diff, telling } from "./diff.js";
import { bdi } from "./glyph.js";
import { toast } from "./toast.js";
import { Loaded } from "./trouble.js";

const by = (name) => (name === "hand" ? "by hand, in the file" : `by ${name}`);

/** @param {{user: string, path: string, hash?: string, stamp: unknown, changed: () => void}} props `hash` of the text now; none if the node is gone */
export function Versions({ user, path, hash, stamp, changed }) {
  const load = useGet(`${nodeUrl(user, path)}/versions`, {}, [], stamp);
  const { v, diff } = route.value.query;
  if (load.trouble?.status === 404) return null; // it never was
  return html`<section class="stack" aria-label="Versions"><h2>Versions</h2><${Loaded} load=${load} rows=${2}>${({ items }) => html`
    <ol class="plain versions">${items.toReversed().map((one) => html`<li key=${one.n} data-open=${String(one.n) === v ? "1" : undefined}>
      <a href=${nodeHref(user, path, { v: String(one.n) === v ? "" : one.n })} aria-expanded=${String(one.n) === v}>v${one.n}</a>
      <small title=${whole(one.at)}>${ago(one.at)}, ${bdi(by(one.by), 60)}${one.removed ? ", removed" : ""}</small>
      <span class="why">${bdi(one.reason || (one.n === 1 ? "first text" : "no reason given"), 300)}</span>
      ${one.sources.slice(0, 3).map((source) => html`<${Source} key=${source} source=${source} />`)}
      ${String(one.n) === v && html`<${Version} key=${`${v}-${diff}`} user=${user} path=${path} one=${one} items=${items} hash=${hash} changed=${changed} />`}</li>`)}</ol>`}</></section>`;
}

function Version({ user, path, one, items, hash, changed }) {
  const against = route.value.query.diff;
  const load = useGet(`${nodeUrl(user, path)}/versions/${one.n}`, { diff: against });
  const now = items.at(-1), box = useRef();
  useEffect(() => { if (load.value) box.current?.scrollIntoView({ block: "center" }); }, [load.value]);
  const revert = () => back({ user, path, n: one.n, hash, changed });
  return html`<div class="stack version" ref=${box}><div class="row">
      <small id="against">What v${one.n} changed, against</small>
      ${items.filter((other) => other.n !== one.n).slice(-8).map((other) => choice(`v${other.n}`, nodeHref(user, path, { v: one.n, diff: other.n === one.n - 1 ? "" : other.n }), String(other.n) === (against || String(one.n - 1))))}
      ${one.n !== now.n && !one.removed && html`<button onClick=${revert} disabled=${!canWrite()}>Revert to v${one.n}…</button>`}</div>
    <${Loaded} load=${load} rows=${3}>${(told) => html`<${Diff} hunks=${telling(told.hunks)} label=${`Changes of version ${one.n}`} />`}</></div>`;
}

/** Make an earlier version the text again, after a yes. */
async function back({ user, path, n, hash, changed }) {
  const done = await confirm({
    title: `Revert to v${n}`, sentence: html`The text of v${n} becomes the text of <bdi>${path}</bdi> again, as a new version. Nothing is lost: the text of now stays a version.`, verb: `Revert to v${n}`,
    run: () => post(`${nodeUrl(user, path)}/versions/${n}/revert`, { reason: `back to v${n}` }, hash ? { headers: { "if-match": `"${hash}"` } } : {}),
  });
  if (!done) return;
  toast(`${path} is at v${done.version}, with the text of v${n}.`);
  changed();
}
