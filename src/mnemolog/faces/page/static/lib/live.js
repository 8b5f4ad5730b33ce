// One stream of events for this tab. Events carry ids and counts, never content.
import { effect, signal, useEffect, useRef } from "../vendor/preact.js";
import { authorization, me } from "./api.js";
import { route } from "./route.js";

/** `live`, `waiting` or `off`, and since when. */
export const line = signal({ state: "waiting", since: Date.now() });

const LONGEST = 30_000;
const HIDDEN = 30_000;
const PAUSE = 250; // at most four renders a second
/** @type {Record<string, Set<(events: any[]) => void>>} */
const listeners = {};
/** @type {Record<string, any[]>} */
let held = {};
/** @type {AbortController | null} */
let stop = null;
let last = "", scope = "", wait = 1000, timer = 0, hiding = 0, hasBeenLive = false;

/** Be told of events of these topics, gathered, while something is shown. `resync` tells to read anew. @param {string[]} topics @param {(events: any[]) => void} told */
export function useEvents(topics, told) {
  const now = useRef(told);
  now.current = told;
  useEffect(() => {
    const names = [...topics, "resync"], tellIt = (events) => now.current(events);
    for (const name of names) (listeners[name] ??= new Set()).add(tellIt);
    return () => names.forEach((name) => listeners[name].delete(tellIt));
  }, [topics.join()]);
}

export function start() {
  document.addEventListener("visibilitychange", () => {
    clearTimeout(hiding);
    if (document.hidden) hiding = setTimeout(drop, HIDDEN);
    else if (!stop) connect();
  });
  // Another scope is another stream; the first run of the effect opens the first one.
  effect(() => {
    const { agent = "", user = "" } = route.value.query;
    const now = JSON.stringify([agent, user]);
    if (stop && scope === now) return;
    if (scope !== now) last = "";
    scope = now;
    drop();
    connect();
  });
}

function drop() { stop?.abort(); stop = null; }

function tell(name, data) {
  (held[name] ??= []).push({ topic: name, ...data });
  timer ||= setTimeout(flush, PAUSE);
}

function flush() {
  timer = 0;
  const told = new Map();
  for (const [name, events] of Object.entries(held)) for (const one of listeners[name] ?? []) told.set(one, [...(told.get(one) ?? []), ...events]);
  held = {};
  for (const [one, events] of told) one(events);
}

async function connect() {
  if (me.peek() === false) return;
  const mine = (stop = new AbortController());
  try {
    const answer = await fetch("/api/v1/events", { signal: mine.signal, cache: "no-store", credentials: "omit", headers: { accept: "text/event-stream", ...authorization(), ...(last ? { "last-event-id": last } : {}) } });
    if (answer.status === 401) { me.value = false; return; }
    if (!answer.ok || !answer.body) throw new Error(String(answer.status));
    // Whatever was missed while it was away is read again.
    if (hasBeenLive && line.peek().state !== "live") tell("resync", { reason: "back" });
    hasBeenLive = true;
    line.value = { state: "live", since: Date.now() };
    wait = 1000;
    await read(answer.body.pipeThrough(new TextDecoderStream()).getReader());
  } catch { /* told by the dot */ }
  if (stop !== mine) return;
  stop = null;
  if (line.value.state === "live") line.value = { state: "waiting", since: Date.now() };
  else if (wait > 4000) line.value = { ...line.value, state: "off" };
  if (!document.hidden) setTimeout(() => stop || connect(), wait);
  wait = Math.min(wait * 2, LONGEST);
}

async function read(reader) {
  let rest = "";
  for (;;) {
    const { value, done } = await reader.read();
    if (done) return;
    const blocks = (rest + value).split(/\r?\n\r?\n/);
    rest = blocks.pop() ?? "";
    for (const block of blocks) take(block);
  }
}

function take(block) {
  const fields = { event: "message", data: "", id: "" };
  for (const row of block.split(/\r?\n/)) {
    const at = row.indexOf(":");
    if (at > 0) fields[row.slice(0, at)] = row.slice(at + 1).replace(/^ /, "");
  }
  if (fields.id) last = fields.id;
  if (!fields.data) return;
  try { tell(fields.event, JSON.parse(fields.data)); } catch { /* a broken event is no event */ }
}
