// Signed out: how to get in, without ever asking for the owner's token.
import { html, useState } from "../vendor/preact.js";
import { refused, signIn } from "../lib/api.js";
import { typing } from "../lib/format.js";
import { start } from "../lib/live.js";
import { sending, useTask } from "../lib/load.js";
import { Trouble } from "../parts/trouble.js";

export function View() {
  const [code, type] = useState("");
  const { trouble, isBusy, run } = useTask();
  const enter = sending(() => run(async () => { await signIn(code.trim().replace(/^.*#code=/, "")); start(); }));
  return html`<div class="stack"><h1>Sign in</h1>
    <p>The server prints a link with a one-time code when it starts. For another one, on the machine where it runs:</p>
    <pre class="card">mnemolog token link</pre>
    <form class="row" onSubmit=${enter}><label>Code or link <input value=${code} onInput=${typing(type)} autocomplete="off" required /></label><button class="main">Sign in</button></form>
    <${Trouble} trouble=${trouble ?? (isBusy ? null : refused.value)} /></div>`;
}
View.title = "Sign in";
