// The bar and the rail, whose memory is looked at; go to or do anything, and the list of keys.
import { html, signal, useLayoutEffect, useRef, useState } from "../vendor/preact.js";
import { call, has, me, signOut } from "../lib/api.js";
import { time, typing } from "../lib/format.js";
import { areOn, focusOn, isEntered, knownKeys, step, toggleLetters, useKeys } from "../lib/keys.js";
import { line } from "../lib/live.js";
import { sending, useGet, useLoad } from "../lib/load.js";
import { change, go, href, route } from "../lib/route.js";
import { Choice } from "./choices.js";
import { Modal } from "./dialog.js";
import { undo } from "./toast.js";

const MENU = matchMedia("(pointer: coarse)").matches ? "⋯" : /Mac/.test(navigator.platform) ? "⌘K" : "Ctrl K";
const WORDS = { live: "live", waiting: "reconnecting", off: "offline" };

/** How many proposals wait for a person's yes, in every tab; none is told where one agent is looked at. */
export const waitingProposals = signal(0);

export function Rail() {
  const { value } = useGet(has("review") && !route.value.query.agent && "/review", { limit: 1 }, ["review", "worker"]);
  useLayoutEffect(() => { waitingProposals.value = value?.total ?? 0; }, [value]);
  if (!me.value) return html`<nav class="rail" aria-label="Views"></nav>`;
  const here = route.value.path[0] ?? "sessions";
  return html`<nav class="rail" aria-label="Views">${views().map((one) => html`
    <a key=${one.name} class=${one.isWide ? "wide" : ""} href=${href([one.name])} aria-current=${here === one.name ? "page" : undefined} title=${`g ${one.key}`}>
      <svg width="16" height="16" viewBox="0 0 16 16" fill="none" stroke="currentColor" stroke-width="1.6" aria-hidden="true"><path d=${one.icon} /></svg>
      ${one.label}${one.name === "review" && waitingProposals.value > 0 && html` <span class="chip count">${waitingProposals.value}</span>`}</a>`)}
  </nav>`;
}

export function Bar() {
  const box = useRef();
  useKeys({
    "/": ["Search", () => box.current?.focus()],
    "Ctrl k": ["Go to or do anything", () => menu.open()],
    "?": ["Show the keys", () => menu.keys()],
    z: ["Undo", () => undo()],
    t: ["Theme", nextTheme],
    u: ["Up", () => go(href(route.value.path.slice(0, route.value.path.includes("entries") ? 2 : -1)))],
    ...Object.fromEntries(views().map((one) => [`g ${one.key}`, [one.label, () => go(href([one.name]))]])),
  });
  const [view = "sessions"] = route.value.path;
  // Whoever came back from the hits goes on with keys where they were, not with letters in the box.
  useLayoutEffect(() => { if (view !== "search" && document.activeElement === box.current) document.getElementById("main")?.focus({ preventScroll: true }); }, [view]);
  const type = (event) => {
    const q = event.currentTarget.value;
    if (view === "search") change({ q }, { replace: true });
    else if (q) go(href(["search"], { q }));
  };
  // From now on letters are keys, also before the hits are there.
  const enter = ({ key }) => { isEntered.value = key === "Enter"; if (isEntered.value) focusOn("#main"); };
  const state = line.value.state;
  return html`<header class="bar" data-view=${view}>
    <a class="root" href=${href([])} title=${me.value?.root ?? ""}>${name(me.value?.root)}</a>
    <div class="grow" role="search"><input ref=${box} type="search" placeholder=${innerWidth > 800 ? "Search everything ( / )" : "Search"} aria-label="Search everything" value=${view === "search" ? route.value.query.q ?? "" : ""} onInput=${type} onKeyDown=${enter} disabled=${!me.value} /></div>
    ${me.value && html`<${Scope} />`}
    ${me.value && html`<span class="row small quiet" title=${`since ${time(line.value.since)}`}><span class="dot" data-state=${state}></span>${WORDS[state]}${state === "off" ? ` since ${time(line.value.since)}` : ""}</span>`}
    <button class="bare" onClick=${() => menu.open()} aria-label=${`${MENU}: Go to or do anything`}>${MENU}</button>
    <button class="bare" onClick=${nextTheme} aria-label="Change the theme">◐</button>
  </header>`;
}

const name = (root) => String(root ?? "mnemolog").split("/").filter(Boolean).slice(-2).join("/") || "mnemolog";

const THEMES = ["", "light", "dark"];
const theme = localStorage.getItem("mnemolog.theme") ?? "";
if (theme) document.documentElement.dataset.theme = theme;

function nextTheme() {
  const now = document.documentElement.dataset.theme ?? "";
  const next = THEMES[(THEMES.indexOf(now) + 1) % THEMES.length];
  document.documentElement.dataset.theme = next;
  localStorage.setItem("mnemolog.theme", next);
}

function Scope() {
  const limits = me.value?.scope ?? {};
  const load = useLoad((stop) => call("GET", "/sessions", { query: { limit: 1 }, signal: stop, isScoped: false }), ["scope"], ["session"]);
  const facets = load.value?.facets ?? {};
  return html`<${One} name="agent" label="Agent" limits=${limits.agents} known=${facets.agents} />
    <${One} name="user" label="User" limits=${limits.users} known=${facets.users} />`;
}

function One({ name, label, limits, known }) {
  if (limits?.length === 1) return html`<span class="chip" title="This token sees nothing else.">${label} ${limits[0]}</span>`;
  const values = (limits?.length ? limits : Object.keys(known ?? {})).slice(0, 200);
  if (!values.length) return null;
  return html`<${Choice} name=${name} label=${label} options=${[["", `all ${name}s`], ...values.map((value) => [value, value])]} />`;
}

const shown = signal("");
/** @type {any} */
const actions = signal([]);
/** What a view offers in the menu while it is shown. @param {[label: string, run: () => void][]} offered @param {unknown[]} on */
export const useActions = (offered, on) => useLayoutEffect(() => {
  actions.value = offered;
  return () => { actions.value = []; };
}, on);
const menu = { open: () => { shown.value = "menu"; }, keys: () => { shown.value = "keys"; }, close: () => { shown.value = ""; } };

const VIEWS = [
  { name: "sessions", label: "Sessions", key: "s", icon: "M2 3h12M2 8h12M2 13h8" },
  { name: "search", label: "Search", key: "f", icon: "M7 2a5 5 0 1 0 0 10A5 5 0 0 0 7 2zM11 11l4 4" },
  { name: "knowledge", label: "Knowledge", key: "k", icon: "M3 2h9v12H3zM6 5h3M6 8h3", needs: "nodes" },
  { name: "review", label: "Review", key: "r", icon: "M2 8l4 4 8-9", needs: "review", isWide: true },
  { name: "forgetting", label: "Forgetting", key: "o", icon: "M3 5h10l-1 9H4zM6 5V2h4v3" },
  { name: "health", label: "Health", key: "h", icon: "M1 8h4l2-5 3 10 2-5h3" },
];

/** The views that this server and this token offer. */
const views = () => VIEWS.filter((one) => !one.needs || has(one.needs));

export function Menu() {
  if (!shown.value) return null;
  const isMenu = shown.value === "menu";
  return html`<${Modal} key=${shown.value} aria-label=${isMenu ? "Go to or do anything" : "Keys"} leave=${menu.close} onClick=${(event) => event.target === event.currentTarget && menu.close()}>
    <${isMenu ? Commands : Keys} /></>`;
}

function Commands() {
  const [text, type] = useState("");
  const known = [...actions.value, ...views().map(({ label, name }) => [label, () => go(href([name]))]), ["Show the keys", menu.keys], ["Sign out", signOut]];
  const all = known.filter(([label]) => label.toLowerCase().includes(text.toLowerCase()));
  if (text) all.push([`Search for “${text}”`, () => go(href(["search"], { q: text }))], [`Open session ${text}`, () => go(href(["sessions", text]))]);
  const run = (one) => { menu.close(); one?.[1](); };
  const move = (event) => {
    const by = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (by) { event.preventDefault(); step([...event.currentTarget.querySelectorAll("input, button")], by); }
  };
  return html`<form method="dialog" onSubmit=${sending(() => run(all[0]))} onKeyDown=${move}>
    <input autofocus value=${text} onInput=${typing(type)} placeholder="A view, an action, a session, words to search" aria-label="Go to or do anything" />
    <ul class="plain">${all.slice(0, 12).map((one) => html`<li key=${one[0]}><button type="button" class="bare" onClick=${() => run(one)}>${one[0]}</button></li>`)}</ul></form>`;
}

const Keys = () => html`<h2>Keys</h2>
  <table><tbody>${knownKeys().map(([key, label]) => html`<tr key=${key}><td>${key.split(" ").map((one) => html`<span class="keycap">${one}</span> `)}</td><td>${label}</td></tr>`)}</tbody></table>
  <label><input type="checkbox" checked=${areOn.value} onChange=${toggleLetters} /> Single letters do something</label>
  <div class="actions"><button onClick=${menu.close}>Close</button></div>`;
