// Nodes: their addresses in the page, and what a [[name]] means.
import { html } from "../vendor/preact.js";
import { url } from "./api.js";
import { entryHref, href } from "./route.js";
import { bdi } from "../parts/glyph.js";

export const FILES = ["USER.md", "SOUL.md", "AGENTS.md", "TOOLS.md"];

/** Where a node is shown. @param {string} user @param {string} path @param {Record<string, unknown>} [query] */
export const nodeHref = (user, path, query) => href(["knowledge", user, ...path.split("/")], query);

/** Where the server has it. @param {string} user @param {string} path */
export const nodeUrl = (user, path) => url`/nodes/${user}/${path}`;

/** What the front of a document leaves: its body. @param {string} text */
export const bodyOf = (text) => text.replace(/^---\r?\n[\s\S]*?\r?\n---\r?\n(\r?\n)?/, "");

/** Where an entry is shown, given as `session/entry`. */
function sourceHref(source) {
  const at = source.indexOf("/");
  // One of a log that is no session's (`@user/entry`) has no page.
  return at > 0 && !source.startsWith("@") ? entryHref(source.slice(0, at), source.slice(at + 1)) : null;
}

const folded = (text) => text.normalize("NFC").trim().replace(/^\/+|\/+$/g, "").toLowerCase();

/** What a link target means: an address, else a name or a title that is unique.
 * @param {{path: string, title: string}[]} leaves @returns {(target: string) => string | null} */
function resolver(leaves) {
  const addresses = new Map(), names = new Map(), titles = new Map();
  const put = (map, key, path) => key && map.set(key, map.has(key) ? null : path);
  for (const { path, title } of leaves) {
    addresses.set(folded(path), path);
    put(names, folded((FILES.includes(path) ? path.slice(0, -3) : path).split("/").at(-1) ?? ""), path);
    put(titles, folded(title), path);
  }
  return (target) => {
    const whole = target.split("#")[0].trim();
    for (const known of [addresses, names, titles]) for (const key of [folded(whole), folded(whole.replace(/\.md$/, ""))]) if (known.get(key)) return known.get(key);
    return null;
  };
}

const COMMENT = /^<!--([^<>]*)-->\s*$/;

/** The sources that a comment names, beside what its line is about; none where it has other words. @param {string} raw */
function sourcesIn(raw) {
  const marks = (COMMENT.exec(raw)?.[1] ?? "").split(/[\s,]+/).filter(Boolean);
  return marks.every((one) => /^#|.\/./.test(one)) ? marks.filter((one) => !one.startsWith("#")) : [];
}

/** How Markdown of a user's nodes makes links and source chips. @param {string} user @param {any[]} leaves */
export function linking(user, leaves) {
  const resolve = resolver(leaves);
  const link = (target) => { const path = resolve(target); return path ? nodeHref(user, path) : null; };
  link.comment = (raw) => {
    const sources = sourcesIn(raw.trim());
    return sources.length > 0 ? sources.map((one) => html` <${Source} key=${one} source=${one} />`) : null;
  };
  return link;
}

/** A small mark that leads to the entry a line rests on. */
export const Source = ({ source, isWhole = false }) => html`<a class="chip source" href=${sourceHref(source)} title=${`Rests on ${source}`} aria-label=${`source ${source}`}>${isWhole ? bdi(source, 80) : "source"}</a>`;
