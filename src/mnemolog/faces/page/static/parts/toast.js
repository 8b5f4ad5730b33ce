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

const remove = (key) => { shown.value = shown.value.filter((one) => one.key !== key); };

export const Toasts = () => html`<div class="toasts" role="status" aria-live="polite">
  ${shown.value.map((one) => html`<div class="toast" key=${one.key}><span>${one.text}</span>
    <span class="row">${one.action && html`<button onClick=${() => { remove(one.key); one.run?.(); }}>${one.action}</button>`}
    <button class="bare" aria-label="Close" onClick=${() => remove(one.key)}>✕</button></span></div>`)}
</div>`;

const MOST = 20;
const KEY = "mnemolog.undo";
/** The last ones of this tab; they outlive a reload. @type {{id: string, label: string, after?: () => void}[]} */
const done = kept();

function kept() {
  try { return JSON.parse(sessionStorage.getItem(KEY) ?? "[]"); } catch { return []; }
}

const keep = () => sessionStorage.setItem(KEY, JSON.stringify(done.map(({ id, label }) => ({ id, label }))));

/** Remember something that can be taken back, and say so. @param {string} id @param {string} label @param {() => void} after */
export function undoable(id, label, after = () => {}) {
  done.push({ id, label, after });
  done.splice(0, Math.max(0, done.length - MOST));
  keep();
  toast(label, { action: "Undo", run: () => undo(id) });
}

/** Take back the last one, or the one named. */
export async function undo(id) {
  const at = id ? done.findIndex((one) => one.id === id) : done.length - 1;
  if (at < 0) return toast("There is nothing to take back in this tab. Hidden entries are under Forgetting.");
  const [one] = done.splice(at, 1);
  try {
    await post(url`/undo/${one.id}`);
    toast(`Taken back: ${one.label}`);
    one.after?.();
  } catch (trouble) {
    if (trouble.status !== 404) done.push(one);
    toast(`Could not take it back: ${trouble.message} ${trouble.advice ?? ""}`);
  }
  keep();
}
