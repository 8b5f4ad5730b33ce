// All nodes of a user as a tree: arrow keys, type to filter, the four files first.
import { html, useEffect, useMemo, useRef, useState } from "../vendor/preact.js";
import { count, typing } from "../lib/format.js";
import { FILES, nodeHref } from "../lib/nodes.js";
import { go } from "../lib/route.js";
import { bdi } from "./glyph.js";

const MOST = 400;

/** Leaves as folders in folders. */
function grown(leaves) {
  const top = { folders: new Map(), leaves: /** @type {any[]} */ ([]), total: 0 };
  for (const leaf of leaves) {
    let place = top;
    top.total += 1;
    const names = leaf.path.split("/").slice(0, -1);
    names.forEach((name, at) => {
      if (!place.folders.has(name)) place.folders.set(name, { path: names.slice(0, at + 1).join("/"), name, folders: new Map(), leaves: [], total: 0 });
      place = place.folders.get(name);
      place.total += 1;
    });
    place.leaves.push(leaf);
  }
  return top;
}

/** The rows that are in sight, with their level. */
function rowsOf(place, open, level = 1, rows = []) {
  if (level === 1) for (const leaf of place.leaves.filter((one) => FILES.includes(one.path))) rows.push({ leaf, level, key: leaf.path });
  for (const folder of place.folders.values()) {
    if (rows.length >= MOST) break;
    rows.push({ folder, level, key: `${folder.path}/`, isOpen: open.has(folder.path) });
    if (open.has(folder.path)) rowsOf(folder, open, level + 1, rows);
  }
  for (const leaf of place.leaves) {
    if (rows.length >= MOST) break;
    if (level > 1 || !FILES.includes(leaf.path)) rows.push({ leaf, level, key: leaf.path });
  }
  return rows;
}

const above = (path) => path.split("/").slice(0, -1).map((_, at, names) => names.slice(0, at + 1).join("/"));

export function Tree({ user, leaves, here, flag }) {
  const [text, type] = useState("");
  const [open, set] = useState(() => new Set(leaves.length < 60 ? leaves.flatMap((one) => above(one.path)) : above(here)));
  const [at, move] = useState(here);
  const place = useRef();
  useEffect(() => { set((now) => new Set([...now, ...above(here)])); move(here); }, [here]);
  const words = text.trim().toLowerCase();
  const fitting = useMemo(() => leaves.filter((one) => (!words || `${one.path} ${one.title}`.toLowerCase().includes(words)) && (!flag || one.flags.includes(flag))), [leaves, words, flag]);
  const isFiltered = Boolean(words || flag);
  const rows = useMemo(() => rowsOf(grown(fitting), isFiltered ? new Set(fitting.flatMap((one) => above(one.path))) : open), [fitting, open, isFiltered]);
  const focused = rows.some((row) => row.key === at) ? at : rows[0]?.key;
  const toggle = (path, wants) => set((now) => { const next = new Set(now); if (wants ?? !next.has(path)) next.add(path); else next.delete(path); return next; });
  const focus = (key) => { move(key); setTimeout(() => place.current?.querySelector('[tabindex="0"]')?.focus()); };
  const keys = (event) => {
    const index = rows.findIndex((row) => row.key === focused), row = rows[index];
    const steps = { ArrowDown: 1, ArrowUp: -1, Home: -index, End: rows.length - 1 - index };
    if (event.key in steps) focus(rows[Math.max(0, Math.min(rows.length - 1, index + steps[event.key]))].key);
    else if (event.key === "ArrowRight" && row.folder) row.isOpen ? focus(rows[index + 1]?.key ?? row.key) : toggle(row.folder.path, true);
    else if (event.key === "ArrowLeft") { if (row.folder && row.isOpen && !isFiltered) toggle(row.folder.path, false); else focus(rows.slice(0, index).findLast((one) => one.level < row.level)?.key ?? row.key); }
    else if (event.key === "Enter" || event.key === " ") { if (row.folder) toggle(row.folder.path); else go(nodeHref(user, row.leaf.path)); }
    else return;
    event.preventDefault();
    event.stopPropagation();
  };
  return html`<div class="nodes"><input type="search" class="words" value=${text} onInput=${typing(type)} placeholder="Filter the tree" aria-label="Filter the tree" />
    <div role="tree" aria-label="Nodes" ref=${place} onKeyDown=${keys}>${rows.map((row) => html`<${Row} key=${row.key} row=${row} user=${user} isHere=${row.leaf?.path === here} isFocused=${row.key === focused} toggle=${toggle} move=${move} />`)}</div>
    ${isFiltered && html`<p class="small quiet" role="status">${count(fitting.length)} of ${count(leaves.length)}</p>`}${rows.length >= MOST && html`<p class="small quiet">More than ${count(MOST)} rows; filter for the rest.</p>`}</div>`;
}

function Row({ row, user, isHere, isFocused, toggle, move }) {
  const indent = { paddingLeft: `${(row.level - 1) * 16 + 8}px` };
  const common = { role: "treeitem", "aria-level": row.level, tabIndex: isFocused ? 0 : -1, class: "leaf", style: indent };
  if (row.folder) return html`<div ...${common} aria-expanded=${row.isOpen} onClick=${() => { move(row.key); toggle(row.folder.path); }}><span class="twist" aria-hidden="true">${row.isOpen ? "▾" : "▸"}</span>${bdi(row.folder.name, 80)} <span class="faint small">${count(row.folder.total)}</span></div>`;
  const { leaf } = row;
  return html`<a ...${common} href=${nodeHref(user, leaf.path)} aria-selected=${isHere} aria-current=${isHere ? "page" : undefined} title=${leaf.description || leaf.path} onClick=${() => move(row.key)}>${bdi(FILES.includes(leaf.path) ? leaf.path : leaf.title || leaf.path, 80)}${leaf.flags.map((flag) => html` <span class="chip warn" key=${flag}>${bdi(flag, 20)}</span>`)}</a>`;
}
