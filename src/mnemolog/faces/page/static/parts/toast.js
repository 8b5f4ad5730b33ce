// Short messages at the edge, one polite live region for all of them; and what can be taken back.
import { html, signal } from "../vendor/preact.js";
import { post, url } from "../lib/api.js";

const SHOWN = 10_000;
const shown = signal(/** @type {{key: number, text: string, action?: string, run?: () => void}[]} */ ([]));
let next = 1;

/** @param {string} text @param {{action?: string, run?: () => void}} [more] */
export function toast(text, { action, run } = {}) {
  const one = { key: next++, text, action, run };
  shown.value = [...shown.value.slice(-2), one];
  setTimeout(() => remove(one.key), SHOWN);
}

/** Do something; what went wrong is told. @param {() => Promise<any>} run @param {string} [before] what was not done */
export async function attempt(run, before = "") {
  try { return await run(); } catch (trouble) { toast(`${before}${trouble.message} ${trouble.advice ?? ""}`); return null; }
}

/** Copy a text. @param {string} [text] */
export const copy = (text = "") => navigator.clipboard.writeText(text).then(() => toast("Copied."), () => toast("The browser did not let it be copied. Select it, then copy."));

const remove = (key) => { shown.value = shown.value.filter((one) => one.key !== key); };

export const Toasts = () => html`<div class="toasts" role="status" aria-live="polite">
  ${shown.value.map((one) => html`<div class="toast" key=${one.key}><span>${one.text}</span>
    <span class="row">${one.action && html`<button onClick=${() => { remove(one.key); one.run?.(); }}>${one.action}</button>`}
    <button class="bare" aria-label="Close" onClick=${() => remove(one.key)}>✕</button></span></div>`)}
</div>`;

const MOST = 20;
const KEY = "mnemolog.undo";
/** @typedef {{label: string, id?: string, back?: () => any, after?: () => void}} Undoable by its `id` at the server, or by `back` */
/** The last ones of this tab; what the server can take back outlives a reload. @type {Undoable[]} */
const done = kept();

function kept() {
  try { return JSON.parse(sessionStorage.getItem(KEY) ?? "[]"); } catch { return []; }
}

const keep = () => sessionStorage.setItem(KEY, JSON.stringify(done.filter(({ id }) => id).map(({ id, label }) => ({ id, label }))));

/** Remember something that can be taken back, and say so. @param {Undoable} one */
export function undoable(one) {
  done.push(one);
  done.splice(0, Math.max(0, done.length - MOST));
  keep();
  toast(one.label, { action: "Undo", run: () => undo(one) });
}

/** Take back the last one, or the one named. */
export async function undo(one = done.at(-1)) {
  if (!one || !done.includes(one)) return toast("There is nothing to take back in this tab. Hidden entries are under Forgetting.");
  done.splice(done.indexOf(one), 1);
  try {
    await (one.back ? one.back() : post(url`/undo/${one.id ?? ""}`));
    toast(`Taken back: ${one.label}`);
    one.after?.();
  } catch (trouble) {
    if (trouble.status !== 404) done.push(one);
    toast(`Could not take it back: ${trouble.message} ${trouble.advice ?? ""}`);
  }
  keep();
}
