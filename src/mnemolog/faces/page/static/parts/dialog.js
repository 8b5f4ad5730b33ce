// Dialogs say what will happen; the button repeats it; focus begins on Cancel and returns after.
import { html, signal, useEffect, useRef, useState } from "../vendor/preact.js";
import { Trouble } from "./trouble.js";

/** @type {any} */
const open = signal(null);
let next = 1;

/** Ask before something is done; answers what `run` gave, or null if it was left.
 * @param {{title: string, sentence: any, verb: string, isFinal?: boolean, typed?: string, body?: any, other?: string, run: () => Promise<any>}} plan
 * `typed` must be typed before the button works; `other` is the label of a way elsewhere, which answers `{other: true}`. */
export const confirm = (plan) => new Promise((answer) => { open.value = { ...plan, answer, key: next++ }; });

export function Dialogs() {
  return open.value ? html`<${Asking} key=${open.value.key} plan=${open.value} />` : null;
}

function Asking({ plan }) {
  const box = useRef(/** @type {any} */ (null));
  const [typed, type] = useState("");
  const [isBusy, busy] = useState(false);
  const [trouble, fail] = useState(null);
  useEffect(() => {
    const before = document.activeElement;
    box.current.showModal();
    box.current.querySelector("[data-first]")?.focus();
    return () => before instanceof HTMLElement && before.focus();
  }, []);
  const leave = (value) => { open.value = null; plan.answer(value); };
  const run = async () => {
    busy(true);
    fail(null);
    try { leave(await plan.run()); } catch (error) { fail(error); busy(false); }
  };
  const isReady = !plan.typed || typed.trim() === String(plan.typed);
  return html`<dialog ref=${box} aria-labelledby="asking" onCancel=${(event) => { event.preventDefault(); if (!isBusy) leave(null); }}>
    <h2 id="asking">${plan.title}</h2>
    <p>${plan.sentence}</p>
    ${plan.body}
    ${plan.typed && html`<label>Type ${plan.typed} to confirm <input value=${typed} onInput=${(event) => type(event.currentTarget.value)} autocomplete="off" /></label>`}
    ${trouble && html`<${Trouble} trouble=${trouble} />`}
    <div class="actions">${plan.other && html`<button class="bare" disabled=${isBusy} onClick=${() => leave({ other: true })}>${plan.other}</button>`}<button data-first disabled=${isBusy} onClick=${() => leave(null)}>Cancel</button>
    <button class=${plan.isFinal ? "final" : "main"} disabled=${isBusy || !isReady} onClick=${run}>${isBusy ? "Working…" : plan.verb}</button></div>
  </dialog>`;
}
