// A graph as numbers, too many nodes as their folders; and drawn on a canvas: shapes and colours by folder, words beside them.
import { count, visible } from "./format.js";
import { cut, FORMS } from "../parts/glyph.js";

/** What the server told, made for the picture. Dead links of the centre are ghosts.
 * @param {any} graph @param {string} center @param {any[]} outgoing @param {string[]} open folders whose nodes are shown one by one */
export function made(graph, center, outgoing, open) {
  const all = graph.nodes.map((one) => ({ ...one, folder: topOf(one.folder) }));
  const folders = graph.cut > 0 ? sizesOf(graph.clusters) : {};
  const nodes = graph.cut > 0 ? gathered(all, folders, open) : all;
  const at = new Map(nodes.map((one, place) => [one.isFolder ? `${one.folder}/` : one.path, place]));
  const placeOf = new Map(all.map((one) => [one.path, at.get(one.path) ?? at.get(`${one.folder}/`)]));
  const edges = [...new Map(graph.edges.map(([from, to, kind]) => [placeOf.get(from), placeOf.get(to), kind]).filter(([from, to]) => from !== undefined && to !== undefined && from !== to)
    .map(([from, to, kind]) => [`${Math.min(from, to)} ${Math.max(from, to)}`, [from, to, kind]])).values()];
  for (const one of outgoing.filter((link) => !link.exists).slice(0, 50)) {
    nodes.push({ path: one.path, title: one.path, degree: 1, folder: "", isDead: true, flags: [] });
    edges.push([at.get(center), nodes.length - 1, "dead"]);
  }
  const beside = nodes.map(() => /** @type {number[]} */ ([]));
  for (const [from, to] of edges) { beside[from].push(to); beside[to].push(from); }
  for (const one of nodes) one.shown = one.isFolder ? `${plain(one.title)} (${count(one.many)})` : plain(one.title || one.path);
  return { nodes, edges, beside, folders, looked: [...new Set(nodes.filter((one) => !one.isDead).map((one) => one.folder))].sort(), cut: graph.cut, center: at.get(center) ?? -1 };
}

const topOf = (folder) => folder.split("/")[0] || "/";
const plain = (text) => visible(String(text).slice(0, 40)).map((part) => (typeof part === "string" ? part : `[${part.hidden}]`)).join("");

/** How many nodes each folder at the top has, whatever is below it. @param {Record<string, number>} clusters */
function sizesOf(clusters) {
  const sizes = {};
  for (const [folder, many] of Object.entries(clusters)) sizes[topOf(folder)] = (sizes[topOf(folder)] ?? 0) + many;
  return sizes;
}

/** One node for each folder that is closed, and the nodes of those that are open. */
const gathered = (all, sizes, open) => [
  ...Object.entries(sizes).filter(([folder]) => !open.includes(folder)).map(([folder, many]) => ({ path: folder, title: folder, folder, many, degree: 0, isFolder: true, flags: [] })),
  ...all.filter((one) => open.includes(one.folder)),
];

const COLOURS = ["--type-decision", "--type-finding", "--type-note", "--type-preference", "--type-event", "--type-conversation"];
const NAMED = 24;
const SHAPES = Object.keys(FORMS);

/** How a folder is drawn: the same for all its nodes. @param {string[]} folders in their order */
export const looks = (folders) => new Map(folders.map((folder, at) => [folder, { colour: COLOURS[at % COLOURS.length], shape: SHAPES[at % SHAPES.length] }]));

/** How large a node is: by its links, a folder by its nodes. */
export const radius = (node) => node.many ? 8 + Math.min(24, Math.sqrt(node.many) / 2) : 5 + Math.min(9, Math.sqrt(node.degree ?? 0) * 2);

/** A shape around a middle. */
function around(x, y, r, shape = "circle") {
  const path = new Path2D();
  path.addPath(new Path2D(FORMS[shape]), new DOMMatrix([r / 7, 0, 0, r / 7, x - r, y - r]));
  return path;
}

/** What fits all places into the picture. @param {Float32Array} places */
export function fitting(places, width, height) {
  let left = Infinity, right = -Infinity, top = Infinity, bottom = -Infinity;
  for (let at = 0; at < places.length; at += 2) {
    left = Math.min(left, places[at]); right = Math.max(right, places[at]);
    top = Math.min(top, places[at + 1]); bottom = Math.max(bottom, places[at + 1]);
  }
  const scale = Math.min(1.6, width * 0.75 / Math.max(1, right - left), (height - 80) / Math.max(1, bottom - top));
  return { scale: Math.max(0.05, scale), x: width / 2 - scale * (left + right) / 2, y: height / 2 - scale * (top + bottom) / 2 };
}

/** The neighbour in the direction of an arrow key; null if there is none that way.
 * @param {number} from @param {number[]} others @param {Float32Array} places @param {string} key */
export function towards(from, others, places, key) {
  const [dx, dy] = { ArrowRight: [1, 0], ArrowLeft: [-1, 0], ArrowDown: [0, 1], ArrowUp: [0, -1] }[key] ?? [0, 0];
  let best = /** @type {number | null} */ (null), most = 0.2;
  for (const other of others) {
    const x = places[other * 2] - places[from * 2], y = places[other * 2 + 1] - places[from * 2 + 1];
    const straight = (x * dx + y * dy) / (Math.hypot(x, y) || 1);
    if (straight > most) { most = straight; best = other; }
  }
  return best;
}

/** Draw it all. @param {{canvas: HTMLCanvasElement, nodes: any[], edges: any[], places: Float32Array, view: any, looks: Map<string, any>, at: number, center: number, colours: (token: string) => string}} picture */
export function draw({ canvas, nodes, edges, places, view, looks: known, at, center, colours }) {
  const width = canvas.clientWidth, height = canvas.clientHeight, ratio = devicePixelRatio || 1;
  canvas.width = width * ratio;
  canvas.height = height * ratio;
  const pen = canvas.getContext("2d");
  if (!pen) return;
  pen.scale(ratio, ratio);
  const x = (one) => places[one * 2] * view.scale + view.x, y = (one) => places[one * 2 + 1] * view.scale + view.y;
  const near = new Set(edges.flatMap(([from, to]) => (from === at ? [to] : to === at ? [from] : [])));
  for (const [from, to, kind] of edges) {
    const isNear = from === at || to === at;
    pen.strokeStyle = colours(isNear ? "--ink" : edges.length > 300 ? "--line" : "--control");
    pen.lineWidth = isNear ? 1.5 : 1;
    pen.setLineDash(kind === "dead" ? [2, 4] : kind === "parent" ? [6, 4] : []);
    pen.beginPath(); pen.moveTo(x(from), y(from)); pen.lineTo(x(to), y(to)); pen.stroke();
  }
  pen.setLineDash([]);
  pen.font = `13px ${getComputedStyle(document.body).fontFamily}`;
  pen.textBaseline = "middle";
  nodes.forEach((node, one) => {
    const look = known.get(node.folder), r = radius(node) * Math.min(1, Math.max(0.5, view.scale));
    if (node.isDead) { pen.strokeStyle = colours("--danger"); pen.setLineDash([2, 3]); pen.stroke(around(x(one), y(one), r)); pen.setLineDash([]); }
    else { pen.fillStyle = colours(look?.colour ?? "--ink-2"); pen.fill(around(x(one), y(one), r, look?.shape)); }
    pen.lineWidth = 2;
    if (one === center) { pen.strokeStyle = colours("--ink"); pen.stroke(around(x(one), y(one), r + 4, look?.shape)); }
    if (one === at) { pen.strokeStyle = colours("--accent"); pen.stroke(around(x(one), y(one), r + 8)); }
  });
  const rank = (one) => (one === at ? 3 : one === center ? 2 : near.has(one) ? 1 : 0) * 1e6 + (nodes[one].many ?? nodes[one].degree ?? 0);
  const taken = /** @type {[left: number, right: number, y: number][]} */ ([]);
  pen.lineWidth = 4; pen.strokeStyle = colours("--bg"); pen.lineJoin = "round";
  // The most important first; a name that would lie over another is left out, one beyond the edge stands on the other side.
  for (const one of nodes.map((_, place) => place).sort((a, b) => rank(b) - rank(a))) {
    const { isDead } = nodes[one], shown = cut(nodes[one].shown, NAMED), wide = pen.measureText(shown).width, gap = radius(nodes[one]) + (one === at || one === center ? 14 : 8);
    const left = x(one) + gap + wide > width ? Math.max(0, x(one) - gap - wide) : x(one) + gap;
    if (one !== at && taken.some(([from, to, line]) => left < to && left + wide > from && Math.abs(line - y(one)) < 15)) continue;
    taken.push([left, left + wide, y(one)]);
    pen.strokeText(shown, left, y(one));
    pen.fillStyle = colours(isDead ? "--danger" : one === at || one === center ? "--ink" : "--ink-2"); pen.fillText(shown, left, y(one));
  }
}
