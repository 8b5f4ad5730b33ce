// Short messages at the edge; one polite live region for all of them.
import { html, signal } from "../vendor/preact.js";

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
