// What went wrong, where it went wrong: what was refused, what to do, and a code to ask about.
import { html, useEffect, useState } from "../vendor/preact.js";
import { href } from "../lib/route.js";
import { advised } from "./glyph.js";

export function Trouble({ trouble, again }) {
  const [left, wait] = useState(0);
  useEffect(() => wait(trouble?.retryAfter ?? 0), [trouble]);
  useEffect(() => { const timer = left && setTimeout(() => wait(left - 1), 1000); return () => clearTimeout(timer); }, [left]);
  if (!trouble) return null;
  return html`<div class="trouble" role="alert">
    <p><strong>${trouble.message}</strong></p>
    <p>${trouble.status === 404 ? html`<a href=${href([])}>Go to the sessions</a>` : advised(trouble.advice)}</p>
    <p class="small quiet">${trouble.code && html`<code>${trouble.code}</code> `}${trouble.requestId && html`request <code>${trouble.requestId}</code>`}</p>
    ${again && html`<button disabled=${left > 0} onClick=${again}>Try again${left > 0 && ` in ${left} s`}</button>`}
  </div>`;
}

/** Nothing for a moment, then a place holder of the final height; after a while, what is waited for, and a way out. */
export function Waiting({ load, rows = 6, what = "Still reading…" }) {
  const [isLong, wait] = useState(false);
  useEffect(() => { const timer = setTimeout(() => wait(true), 2000); return () => clearTimeout(timer); }, []);
  return load.isSlow ? html`<div class="stack" aria-busy="true">${isLong && html`<div class="row"><span class="quiet" role="status">${what}</span><button onClick=${load.leave}>Cancel</button></div>`}${Array.from({ length: rows }, (_, at) => html`<div class="skeleton" key=${at}></div>`)}</div>` : null;
}

/** A load as it stands: trouble, a place holder, or what `children` makes of the value. */
export function Loaded({ load, rows, what, children }) {
  if (load.trouble && !load.value) return html`<${Trouble} trouble=${load.trouble} again=${load.again} />`;
  if (!load.value) return html`<${Waiting} load=${load} rows=${rows} what=${what} />`;
  return html`<${Trouble} trouble=${load.trouble} again=${load.again} />${children(load.value)}`;
}
