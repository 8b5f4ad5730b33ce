// The bar and the rail.
import { effect, html, signal, useRef } from "../vendor/preact.js";
import { get, has, me } from "../lib/api.js";
import { time } from "../lib/format.js";
import { isEntered, useKeys } from "../lib/keys.js";
import { line, listen } from "../lib/live.js";
import { change, go, href, route } from "../lib/route.js";
import { undo } from "../lib/undo.js";
import { menu, views } from "./menu.js";
import { Scope } from "./scope.js";

const MENU = matchMedia("(pointer: coarse)").matches ? "⋯" : /Mac/.test(navigator.platform) ? "⌘K" : "Ctrl K";
const WORDS = { live: "live", waiting: "reconnecting", off: "offline" };

/** How many proposals wait for a person's yes, in every tab. */
export const waitingProposals = signal(0);

async function count() {
  if (!has("review")) return;
  try { waitingProposals.value = (await get("/review", { limit: 1 })).total ?? 0; } catch { /* the view tells */ }
}

effect(() => { if (me.value) count(); });
listen(["review", "worker"], count);

export function Rail() {
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
  const type = (event) => {
    const q = event.currentTarget.value;
    if (route.value.path[0] === "search") change({ q }, { replace: true });
    else if (q) go(href(["search"], { q }));
  };
  const state = line.value.state;
  return html`<header class="bar">
    <a class="root" href=${href([])} title=${me.value?.root ?? ""}>${name(me.value?.root)}</a>
    <div class="grow" role="search"><input ref=${box} type="search" placeholder=${innerWidth > 800 ? "Search everything ( / )" : "Search"} aria-label="Search everything" value=${route.value.path[0] === "search" ? route.value.query.q ?? "" : ""} onInput=${type} onKeyDown=${(event) => { isEntered.value = event.key === "Enter"; }} disabled=${!me.value} /></div>
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
