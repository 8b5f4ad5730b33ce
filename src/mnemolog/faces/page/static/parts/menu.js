// Go to or do anything, and the list of keys.
import { html, signal, useEffect, useState } from "../vendor/preact.js";
import { has, signOut } from "../lib/api.js";
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

const VIEWS = [
  { name: "sessions", label: "Sessions", key: "s", icon: "M2 3h12M2 8h12M2 13h8" },
  { name: "search", label: "Search", key: "f", icon: "M7 2a5 5 0 1 0 0 10A5 5 0 0 0 7 2zM11 11l4 4" },
  { name: "knowledge", label: "Knowledge", key: "k", icon: "M3 2h9v12H3zM6 5h3M6 8h3", needs: "nodes" },
  { name: "review", label: "Review", key: "r", icon: "M2 8l4 4 8-9", needs: "review", isWide: true },
  { name: "forgetting", label: "Forgetting", key: "o", icon: "M3 5h10l-1 9H4zM6 5V2h4v3" },
  { name: "health", label: "Health", key: "h", icon: "M1 8h4l2-5 3 10 2-5h3" },
];

/** The views that this server and this token offer. */
export const views = () => VIEWS.filter((one) => !one.needs || has(one.needs));

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
    ...views().map(({ label, name }) => [label, () => go(href([name]))]), ["Sign out", signOut],
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
