// Markdown without trust: the lexer runs in a worker that is ended when it takes long, and
// nothing but an allow-list of elements is made from what it found. No HTML is ever parsed.
import { html, useEffect, useState } from "../vendor/preact.js";
import { bdi } from "../parts/glyph.js";

export const MOST = 64 * 1024;
const LONGEST = 300;
const LOADING = 5000;
const KEPT = 1000;

/** The one policy of the page: it knows the two workers and cannot make HTML. */
const policy = globalThis.trustedTypes?.createPolicy("page-worker", {
  createScriptURL: (name) => {
    if (name !== "markdown" && name !== "layout") throw new TypeError("There is no such worker.");
    return new URL(`../workers/${name}.js`, import.meta.url).href;
  },
});

/** Start one of the page's workers. @param {"markdown" | "layout"} name */
export const startWorker = (name) => new Worker(/** @type {any} */ (policy ? policy.createScriptURL(name) : new URL(`../workers/${name}.js`, import.meta.url)), { type: "module" });

/** @type {Worker | null} */
let worker = null;
let isReady = false, next = 1;
/** @type {{id: number, text: string, done: (answer: any) => void}[]} */
const queue = [];
/** @type {Map<string, any>} */
const known = new Map();
let timer = 0;

/** The tokens of a text; null when it is too long, too slow or too odd to be read. @param {string} text @returns {Promise<any[] | null>} */
export function lex(text) {
  if (text.length > MOST) return Promise.resolve(null);
  if (known.has(text)) return Promise.resolve(known.get(text));
  return new Promise((done) => {
    queue.push({ id: next++, text, done });
    if (queue.length === 1) send();
  });
}

function send() {
  if (!queue.length) return;
  if (!worker) return load();
  if (!isReady) return; // it says when it is
  worker.postMessage({ id: queue[0].id, text: queue[0].text });
  timer = setTimeout(giveUp, LONGEST);
}

/** Start the worker; that this takes a while is not the text's fault. */
function load() {
  worker = startWorker("markdown");
  isReady = false;
  worker.onmessage = ({ data }) => {
    if (data.isReady) { clearTimeout(timer); isReady = true; send(); } else if (data.id === queue[0]?.id) settle(data.tokens ?? null);
  };
  worker.onerror = giveUp;
  timer = setTimeout(giveUp, LOADING);
}

function giveUp() {
  worker?.terminate();
  worker = null;
  settle(null);
}

function settle(tokens) {
  clearTimeout(timer);
  const one = queue.shift();
  if (!one) return;
  known.set(one.text, tokens);
  if (known.size > KEPT) known.delete(/** @type {string} */ (known.keys().next().value));
  one.done(tokens);
  send();
}

// Whoever reads this module is about to lay something out.
load();

/** Text as Markdown; plain until it is read, and plain with a note where it cannot be.
 * @param {{text: string, link?: (target: string) => string | null}} props `link` makes an address of `[[target]]`, `link.comment` a mark of an HTML comment that it knows */
export function Markdown({ text, link }) {
  const [tokens, set] = useState(/** @type {any} */ (known.get(text)));
  useEffect(() => {
    let isHere = true;
    lex(text).then((found) => isHere && set(found));
    return () => { isHere = false; };
  }, [text]);
  if (tokens === undefined) return html`<div class="markdown plain-text">${bdi(text.slice(0, MOST))}</div>`;
  if (tokens === null) return html`<div class="markdown plain-text"><p class="small quiet">Shown as plain text: too long or too slow to be laid out.</p>${bdi(text.slice(0, MOST))}</div>`;
  return html`<div class="markdown" dir="auto">${blocks(tokens, link)}</div>`;
}

const blocks = (tokens, link) => tokens.map((token) => block(token, link));

function block(token, link) {
  switch (token.type) {
    case "space": case "def": case "checkbox": return null;
    case "heading": return html`<${`h${Math.min(6, token.depth + 2)}`}>${inline(token.tokens, link)}</>`;
    case "paragraph": return html`<p>${inline(token.tokens, link)}</p>`;
    case "code": return html`<pre class="code"><code>${bdi(token.text)}</code></pre>`;
    case "blockquote": return html`<blockquote>${blocks(token.tokens ?? [], link)}</blockquote>`;
    case "hr": return html`<hr />`;
    case "list": return html`<${token.ordered ? "ol" : "ul"} start=${token.ordered ? Number(token.start) || 1 : undefined}>${token.items.map((item) => html`<li>${token.task || item.task ? html`<input type="checkbox" checked=${item.checked} disabled /> ` : null}${blocks(item.tokens ?? [], link)}</li>`)}</>`;
    case "table": return table(token, link);
    case "html": return link?.comment?.(token.raw) ?? html`<p>${bdi(token.raw)}</p>`;
    case "text": return token.tokens ? html`<span>${inline(token.tokens, link)}</span>` : bdi(token.text);
    default: return html`<p>${bdi(token.raw ?? token.text ?? "")}</p>`;
  }
}

function table(token, link) {
  const cells = token.header.length * (token.rows.length + 1);
  if (cells > 2000) return html`<pre>${bdi(token.raw)}</pre>`;
  return html`<div class="scroll"><table><thead><tr>${token.header.map((cell) => html`<th>${inline(cell.tokens, link)}</th>`)}</tr></thead>
    <tbody>${token.rows.map((row) => html`<tr>${row.map((cell) => html`<td>${inline(cell.tokens, link)}</td>`)}</tr>`)}</tbody></table></div>`;
}

const inline = (tokens, link) => (tokens ?? []).map((token) => span(token, link));

function span(token, link) {
  switch (token.type) {
    case "strong": case "em": case "del": return html`<${token.type}>${inline(token.tokens, link)}</>`;
    case "codespan": return html`<code>${bdi(token.text)}</code>`;
    case "br": return html`<br />`;
    case "link": return anchor(token.href, inline(token.tokens, link), token.raw);
    case "image": return anchor(token.href, bdi(`picture: ${token.text || token.href}`), token.raw);
    case "checkbox": return null;
    case "html": return link?.comment?.(token.raw) ?? bdi(token.raw);
    case "text": case "escape": return token.tokens ? inline(token.tokens, link) : wikis(token.text, link);
    default: return bdi(token.raw ?? token.text ?? "");
  }
}

/** A link that leaves: its host is shown, nothing is told to it. Any other address stays text. */
function anchor(address, words, raw) {
  /** @type {URL | null} */
  let target = null;
  try { target = new URL(address); } catch { /* relative or broken: text */ }
  if (!target || !["http:", "https:", "mailto:"].includes(target.protocol)) return bdi(raw);
  return html`<a href=${target.href} rel="noopener noreferrer" target="_blank" referrerpolicy="no-referrer">${words}</a> <span class="small faint">${target.host || "mail"}</span>`;
}

/** Text in which [[names]] are links inside the page. */
export function wikis(text, link) {
  if (!link || !text.includes("[[")) return bdi(text);
  return text.split(/(\[\[[^[\]\n]{1,200}\]\])/).map((part) => {
    const found = /^\[\[([^|]*)(?:\|(.*))?\]\]$/.exec(part);
    if (!found) return part && bdi(part);
    const address = link(found[1].trim());
    const words = bdi(found[2] ?? found[1]);
    return address ? html`<a href=${address}>${words}</a>` : html`<span class="dead" title="leads nowhere">${words}</span>`;
  });
}
