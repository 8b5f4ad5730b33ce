// Go to or do anything, and the list of keys.
import { html, signal, useEffect, useState } from "../vendor/preact.js";
import { signOut } from "../lib/api.js";
import { typing } from "../lib/format.js";
import { areOn, knownKeys, toggleLetters } from "../lib/keys.js";
import { go, href } from "../lib/route.js";
import { sending } from "../lib/task.js";
import { Modal } from "./dialog.js";

const shown = signal("");
/** @type {any} */
const actions = signal([]);
/** What a view offers in the menu while it is shown. @param {[label: string, run: () => void][]} offered @param {unknown[]} on */
export const useActions = (offered, on) => useEffect(() => {
  actions.value = offered;
  return () => { actions.value = []; };
}, on);
export const menu = { open: () => { shown.value = "menu"; }, keys: () => { shown.value = "keys"; }, close: () => { shown.value = ""; } };

const PLACES = [["Sessions", "sessions"], ["Search", "search"], ["Knowledge", "knowledge"], ["Review", "review"], ["Forgetting", "forgetting"], ["Health", "health"]];

export function Menu() {
  if (!shown.value) return null;
  const isMenu = shown.value === "menu";
  return html`<${Modal} key=${shown.value} aria-label=${isMenu ? "Go to or do anything" : "Keys"} leave=${menu.close} onClick=${(event) => event.target === event.currentTarget && menu.close()}>
    <${isMenu ? Commands : Keys} /></>`;
}

function Commands() {
  const [text, type] = useState("");
  const all = [
    ...actions.value,
    ...PLACES.map(([label, view]) => [label, () => go(href([view]))]), ["Sign out", signOut],
    ...(text ? [[`Search for “${text}”`, () => go(href(["search"], { q: text }))], [`Open session ${text}`, () => go(href(["sessions", text]))]] : []),
  ].filter(([label], at, list) => at >= list.length - (text ? 2 : 0) || label.toLowerCase().includes(text.toLowerCase()));
  const run = (one) => { menu.close(); one?.[1](); };
  return html`<form method="dialog" onSubmit=${sending(() => run(all[0]))}>
    <input autofocus value=${text} onInput=${typing(type)} placeholder="A view, an action, a session, words to search" aria-label="Go to or do anything" />
    <ul class="plain">${all.slice(0, 12).map((one) => html`<li key=${one[0]}><button type="button" class="bare" onClick=${() => run(one)}>${one[0]}</button></li>`)}</ul></form>`;
}

const Keys = () => html`<h2>Keys</h2>
  <table><tbody>${knownKeys().map(([key, label]) => html`<tr key=${key}><td>${key.split(" ").map((one) => html`<span class="keycap">${one}</span> `)}</td><td>${label}</td></tr>`)}</tbody></table>
  <label><input type="checkbox" checked=${areOn.value} onChange=${toggleLetters} /> Single letters do something</label>
  <div class="actions"><button onClick=${menu.close}>Close</button></div>`;
