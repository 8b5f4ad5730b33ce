// A graph as numbers for the picture: nodes by place, edges as pairs; too many nodes stand together as their folders.
import { count, visible } from "./format.js";

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
