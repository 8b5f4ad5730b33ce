// What is near this? A picture that works by keys, and the same as a list.
import { html, useEffect, useMemo, useRef, useState } from "../vendor/preact.js";
import { get, url } from "../lib/api.js";
import { count, plural } from "../lib/format.js";
import { draw, fitting, looks, made, radius, towards } from "../lib/graph.js";
import { useLoad } from "../lib/load.js";
import { startWorker } from "../lib/markdown.js";
import { nodeHref, nodeUrl } from "../lib/nodes.js";
import { change, go, here, href, route } from "../lib/route.js";
import { onTheme, paint } from "./chart.js";
import { choice, Facet, listed } from "./choices.js";
import { bdi, FORMS } from "./glyph.js";
import { Loaded } from "./trouble.js";

const DEPTHS = [["1", "1 link"], ["2", "2 links"], ["3", "3 links"]];
const MOST = 2000;

const near = (user, center, depth, stop) => Promise.all([
  get(url`/graph/${user}`, { center, depth: center ? depth : 1, limit: MOST }, stop),
  center ? get(nodeUrl(user, center), {}, stop) : { outgoing: [] },
]);

/** Where a node leads; a folder opens. */
const placeOf = (user, one) => (one.isFolder ? here({ open: [...listed("open"), one.folder].join(",") }) : nodeHref(user, one.path));

export function Graph({ user, leaves }) {
  const { center = "", depth = "1" } = route.value.query;
  const load = useLoad((stop) => near(user, center, depth, stop), ["graph", user, center, depth], ["node"]);
  const title = leaves.find((one) => one.path === center)?.title ?? center;
  return html`<div class="head"><h1>${center ? html`What is near ${bdi(title, 80)}` : "All nodes and their links"}</h1>
      ${center && html`<div class="row" role="group" aria-label="How far">${DEPTHS.map(([value, label]) => choice(label, here({ depth: value }), depth === value))}${choice("everything", href(route.value.path, { view: "graph" }))}</div>`}</div>
    <${Loaded} load=${load} rows=${8}>${([told, node]) => (told.nodes.length === 0 ? html`<p class="empty">There is no node yet.</p>` : html`<${Both} told=${told} outgoing=${node.outgoing} user=${user} />`)}</>`;
}

function Both({ told, outgoing, user }) {
  const { center = "", open = "" } = route.value.query;
  const graph = useMemo(() => made(told, center, outgoing, open.split(",")), [told, center, open]);
  return html`${graph.cut > 0 && html`<div class="facets"><${Facet} name="open" label="Folders, which open" counts=${graph.folders} isMany most=${12} /></div>`}
    <${Twin} graph=${graph} user=${user} /><${Picture} key=${`${center} ${open} ${graph.nodes.length}`} graph=${graph} user=${user} />
    ${graph.cut > 0 && html`<p class="quiet">There are too many nodes for one picture: each folder stands for its own until it is opened. ${plural(graph.cut, "node")} with the fewest links ${graph.cut === 1 ? "is" : "are"} left out of it; the tree has them all.</p>`}`;
}

/** The same as a list; it comes first for who goes by keys. */
function Twin({ graph, user }) {
  const isOpen = route.value.query.as === "list";
  const shown = graph.nodes.slice(0, 300);
  return html`<details class="twin" open=${isOpen} onToggle=${(event) => event.currentTarget.open !== isOpen && change({ as: event.currentTarget.open ? "list" : "" }, { replace: true })}><summary>As a list: ${plural(graph.nodes.length, "node")}, ${plural(graph.edges.length, "link")}</summary>
    <table class="cards"><thead><tr><th>node</th><th>folder</th><th class="num">links</th><th>linked with</th></tr></thead><tbody>${isOpen && shown.map((one, at) => html`<tr key=${one.path}><td>${one.isDead ? html`<span class="dead">${bdi(one.title, 120)}</span> <span class="small danger">leads nowhere</span>` : html`<a href=${placeOf(user, one)}>${bdi(one.isFolder ? one.shown : one.title || one.path, 120)}</a>`}</td>
      <td class="quiet">${bdi(one.folder === "/" ? "" : one.folder, 60)}</td><td class="num">${count(graph.beside[at].length)}</td><td class="quiet">${graph.beside[at].slice(0, 8).map((other, row) => html`${row > 0 && ", "}${bdi(graph.nodes[other].shown)}`)}${graph.beside[at].length > 8 && " …"}</td></tr>`)}</tbody></table>
    ${isOpen && graph.nodes.length > shown.length && html`<p class="small quiet">The first ${count(shown.length)}; the tree has them all.</p>`}</details>`;
}

function Picture({ graph, user }) {
  const box = useRef(), state = useRef();
  const [at, focus] = useState(graph.center >= 0 ? graph.center : 0);
  const [isBusy, busy] = useState(true);
  const known = useMemo(() => looks(graph.looked), [graph]);
  const redraw = () => {
    if (!state.current || !box.current) return;
    const memo = new Map(), colours = (token) => memo.get(token) ?? memo.set(token, paint(token)).get(token);
    draw({ canvas: box.current, ...state.current, nodes: graph.nodes, edges: graph.edges, looks: known, at, center: graph.center, colours });
  };
  useEffect(() => {
    const worker = startWorker("layout");
    worker.onmessage = ({ data }) => {
      if (!box.current) return;
      state.current = { places: data.places, view: fitting(data.places, box.current.clientWidth, box.current.clientHeight) };
      if (data.isDone) { busy(false); worker.terminate(); }
      drawn.current();
    };
    worker.postMessage({ count: graph.nodes.length, edges: graph.edges.map(([from, to]) => [from, to]), center: graph.center, isStill: matchMedia("(prefers-reduced-motion: reduce)").matches });
    return () => worker.terminate();
  }, [graph]);
  const drawn = useRef(redraw);
  drawn.current = redraw;
  useEffect(redraw, [at, isBusy]);
  useEffect(() => {
    const again = () => { if (state.current && box.current) { state.current.view = fitting(state.current.places, box.current.clientWidth, box.current.clientHeight); drawn.current(); } };
    const size = new ResizeObserver(again), stop = onTheme(again);
    size.observe(box.current);
    return () => { size.disconnect(); stop(); };
  }, []);
  const open = (one) => graph.nodes[one] && !graph.nodes[one].isDead && go(placeOf(user, graph.nodes[one]));
  const keys = (event) => {
    if (event.key === "Enter") open(at);
    else if (event.key === " " && !graph.nodes[at].isDead && !graph.nodes[at].isFolder) change({ center: graph.nodes[at].path });
    else if (event.key.startsWith("Arrow") && state.current) { const next = towards(at, graph.beside[at], state.current.places, event.key) ?? towards(at, graph.nodes.map((_, one) => one).filter((one) => one !== at), state.current.places, event.key); if (next !== null) focus(next); }
    else return;
    event.preventDefault();
    event.stopPropagation();
  };
  const under = (event) => {
    const edge = box.current.getBoundingClientRect(), { view, places } = state.current ?? {};
    let near = -1, least = 0;
    if (view) graph.nodes.forEach((node, one) => {
      const far = Math.hypot(places[one * 2] * view.scale + view.x - (event.clientX - edge.left), places[one * 2 + 1] * view.scale + view.y - (event.clientY - edge.top)) - Math.max(14, radius(node) + 6);
      if (far < least) { near = one; least = far; }
    });
    return near;
  };
  const now = graph.nodes[at];
  const said = now && `${now.shown}${now.isDead ? ", leads nowhere" : `, ${plural(graph.beside[at].length, "link")}`}: ${graph.beside[at].slice(0, 8).map((one) => graph.nodes[one].shown).join(", ")}`;
  return html`<div><canvas ref=${box} tabindex="0" role="application" aria-label="Graph of nodes" aria-describedby="graph-now graph-keys" aria-busy=${isBusy} onKeyDown=${keys}
      onPointerMove=${(event) => { const one = under(event); box.current.classList.toggle("over", one >= 0); if (one >= 0 && event.pointerType === "mouse") focus(one); }} onClick=${(event) => { const one = under(event); if (one >= 0) open(one); }}></canvas>
    <p id="graph-now" class="now" role="status"><bdi dir="auto">${said}</bdi></p>
    <ul class="legend">${[...known].map(([folder, look]) => html`<li key=${folder}><${Mark} look=${look} /> ${folder === "/" ? "no folder" : bdi(folder, 40)}</li>`)}</ul>
    <p id="graph-keys" class="small quiet">Arrows go to a neighbour, Enter opens it, Space puts it into the middle.</p></div>`;
}

const Mark = ({ look }) => html`<svg width="14" height="14" viewBox="0 0 14 14" aria-hidden="true"><path d=${FORMS[look.shape]} fill=${`var(${look.colour})`} /></svg>`;
