// Dialogs say what will happen; the button repeats it; focus begins on Cancel and returns after.
import { html, signal, useLayoutEffect, useRef, useState } from "../vendor/preact.js";
import { Trouble } from "./trouble.js";
import { typing } from "../lib/format.js";

/** @type {any} */
const open = signal(null);
let next = 1;

/** Ask before something is done; answers what `run` gave, or null if it was left.
 * @param {{title: string, sentence: any, verb?: string, isFinal?: boolean, typed?: string, body?: any, other?: string, run?: () => Promise<any>, wait?: Promise<any>}} plan
 * without `run` it only says that one waits for `wait`; `typed` must be typed before the button works; `other` is the label of a way elsewhere, which answers `{other: true}`. */
export const confirm = (plan) => new Promise((answer) => { open.value = { ...plan, answer, key: next++ }; });

export function Dialogs() {
  return open.value ? html`<${Asking} key=${open.value.key} plan=${open.value} />` : null;
}

function Asking({ plan }) {
  const box = useRef();
  const [typed, type] = useState("");
  const [isBusy, busy] = useState(false);
  const [trouble, fail] = useState(null);
  useLayoutEffect(() => {
    const dialog = box.current;
    dialog.showModal();
    dialog.querySelector("[data-first]").focus();
    plan.wait?.then(leave, fail);
    return () => dialog.close(); // gives the focus back
  }, []);
  const leave = (value) => { if (open.value === plan) open.value = null; plan.answer(value); };
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
    ${plan.typed && html`<label>Type ${plan.typed} to confirm <input value=${typed} onInput=${typing(type)} autocomplete="off" /></label>`}
    <${Trouble} trouble=${trouble} />
    <div class="actions">${plan.other && html`<button class="bare" disabled=${isBusy} onClick=${() => leave({ other: true })}>${plan.other}</button>`}<button data-first disabled=${isBusy} onClick=${() => leave(null)}>Cancel</button>
    ${plan.run && html`<button class=${plan.isFinal ? "final" : "main"} disabled=${isBusy || !isReady} onClick=${run}>${isBusy ? "Working…" : plan.verb}</button>`}</div>
  </dialog>`;
}
