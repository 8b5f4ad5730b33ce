// Dialogs say what will happen; the button repeats it; focus begins on Cancel and returns after.
import { html, signal, useEffect, useLayoutEffect, useRef, useState } from "../vendor/preact.js";
import { typing } from "../lib/format.js";
import { sending, useTask } from "../lib/load.js";
import { Trouble } from "./trouble.js";

const open = signal(null);
let next = 1;

/** Ask before something is done; answers what `run` gave, or null if it was left.
 * @param {{title: string, sentence: any, verb?: string, isFinal?: boolean, typed?: string, asks?: string, first?: string, body?: any, other?: string, run?: (text: string) => Promise<any>, wait?: Promise<any>}} plan
 * without `run` it only says that one waits for `wait`; `typed` must be typed before the button works, or a text of one's own that `asks` names; `other` is the label of a way elsewhere, which answers `{other: true}`. */
export const confirm = (plan) => new Promise((answer) => { open.value = { ...plan, answer, key: next++ }; });

export function Dialogs() {
  return open.value ? html`<${Asking} key=${open.value.key} plan=${open.value} />` : null;
}

/** What lies over the page until it is left. @param {{leave: () => void, children?: any, [name: string]: any}} props */
export function Modal({ leave, children, ...more }) {
  const box = useRef();
  useLayoutEffect(() => {
    const dialog = box.current;
    dialog.showModal();
    dialog.querySelector("[data-first]")?.focus();
    return () => dialog.close(); // gives the focus back
  }, []);
  return html`<dialog ref=${box} ...${more} onCancel=${sending(leave)}>${children}</dialog>`;
}

function Asking({ plan }) {
  const [text, type] = useState(plan.first ?? "");
  const { isBusy, trouble, run } = useTask();
  const leave = (value) => { if (open.value === plan) open.value = null; plan.answer(value); };
  useEffect(() => { if (plan.wait) run(() => plan.wait.then(leave)); }, []);
  const isHeld = isBusy && Boolean(plan.run), isReady = !plan.typed || text.trim() === plan.typed;
  return html`<${Modal} aria-labelledby="asking" leave=${() => isHeld || leave(null)}>
    <h2 id="asking">${plan.title}</h2>
    <p>${plan.sentence}</p>
    ${plan.body}
    ${(plan.typed || plan.asks) && html`<label class="field">${plan.asks ?? `Type ${plan.typed} to confirm`}<input value=${text} onInput=${typing(type)} autocomplete="off" /></label>`}
    <${Trouble} trouble=${trouble} />
    <div class="actions">${plan.other && html`<button class="bare" disabled=${isHeld} onClick=${() => leave({ other: true })}>${plan.other}</button>`}<button data-first disabled=${isHeld} onClick=${() => leave(null)}>Cancel</button>
    ${plan.run && html`<button class=${plan.isFinal ? "final" : "main"} disabled=${isBusy || !isReady} onClick=${() => run(async () => leave(await plan.run(text.trim())))}>${isBusy ? "Working…" : plan.verb}</button>`}</div>
  </>`;
}
