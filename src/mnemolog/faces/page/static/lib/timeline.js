// A session in windows: some hundred entries at a time, the rest is fetched when it is near.
import { useEffect, useRef, useState } from "../vendor/preact.js";
import { get, url } from "./api.js";
import { useEvents } from "./live.js";
import { LEFT } from "./load.js";
import { lex } from "./markdown.js";

const FIRST = 60; // fills the highest window, and is soon there
const WINDOW = 100;
const MOST = 200;
const PATIENCE = 300;
/** @type {any} */
const NOTHING = { items: [], before: null, after: null, total: 0 };

/** Lay texts out before they are shown, so that nothing grows under the reader. */
function prepared(found) {
  const texts = found.items.map((one) => one.entry.content).filter((content) => typeof content === "string");
  return Promise.race([Promise.all(texts.map(lex)), new Promise((done) => setTimeout(done, PATIENCE))]).then(() => found);
}

/** @param {string} id of the session @param {{types?: string, hidden?: boolean, at?: string}} how
 * @param {{isAtEnd: () => boolean, keepPlace: () => void}} screen */
export function useTimeline(id, { types, hidden, at }, screen) {
  const [state, set] = useState({ ...NOTHING, isBusy: true, trouble: null, fresh: 0 });
  const now = useRef(state), run = useRef(0), isAway = useRef(false);
  now.current = state;
  const asked = (more) => get(url`/sessions/${id}/entries`, { types, hidden: hidden ? "true" : undefined, limit: WINDOW, ...more }).then(prepared);
  const put = (change) => set((old) => ({ ...old, ...(typeof change === "function" ? change(old) : change) }));

  const begin = async (more) => {
    const mine = ++run.current;
    put({ isBusy: true, trouble: null });
    try {
      const found = await asked({ limit: FIRST, ...more });
      if (mine !== run.current) return [];
      put({ items: found.items, before: found.previous_cursor, after: found.next_cursor, total: found.total, isBusy: false, fresh: found.next_cursor ? now.current.fresh : 0 });
      return found.items;
    } catch (trouble) { if (mine === run.current) put({ isBusy: false, trouble }); }
    return [];
  };
  const grow = async (side) => {
    const cursor = now.current[side];
    if (isAway.current || (side === "before" && cursor === null)) return;
    isAway.current = true;
    const mine = run.current, { items } = now.current;
    try {
      const last = items.at(-1)?.place ?? 0;
      const found = await asked(side === "before" ? { before_seq: cursor } : { after_seq: last });
      if (mine !== run.current) return;
      screen.keepPlace();
      put((old) => joined(old, found, side));
    } catch (trouble) { put({ trouble }); } finally { isAway.current = false; }
  };
  const refresh = async () => {
    const { items, before } = now.current, mine = run.current;
    if (!items.length) return begin({});
    try {
      // From where the window began, not from its first entry: what was hidden before that one may be back.
      const found = await asked({ after_seq: Math.max(0, (before ?? 1) - 1), limit: MOST });
      if (mine !== run.current) return;
      screen.keepPlace();
      put({ items: found.items, after: found.next_cursor, total: found.total });
    } catch { /* shown as it was; the dot tells */ }
  };
  const leave = () => { run.current++; put({ isBusy: false, trouble: LEFT }); };
  const drop = (entry) => put((old) => ({ items: old.items.filter((one) => one.entry.id !== entry), total: old.total - 1 }));

  useEffect(() => { set({ ...NOTHING, isBusy: true, trouble: null, fresh: 0 }); begin(at ? { around: at } : {}); }, [id, types, hidden]);
  useEffect(() => { if (at && now.current.items.length && !now.current.items.some((one) => one.entry.id === at)) begin({ around: at }); }, [at]);
  useEvents(["entry", "hidden"], (events) => {
    if (events.some((one) => one.topic !== "entry")) return refresh();
    const wanted = types ? types.split(",") : null;
    const mine = events.filter((one) => one.session_id === id && (!wanted || wanted.includes(one.type)));
    if (!mine.length) return;
    const shown = new Set(now.current.items.map((one) => one.entry.id));
    if (mine.some((one) => shown.has(one.id))) refresh();
    const fresh = mine.filter((one) => !shown.has(one.id)).length;
    if (!fresh) return;
    if (now.current.after === null && screen.isAtEnd()) grow("after");
    else put((old) => ({ fresh: old.fresh + fresh, total: old.total + fresh, after: old.after ?? String(old.items.at(-1)?.place ?? 0) }));
  });
  return { ...state, begin, grow, refresh, leave, drop, put };
}

/** Two windows as one; what is too much falls away on the other side, and can be fetched again. */
function joined(old, found, side) {
  const known = new Set(old.items.map((one) => one.entry.id));
  const added = found.items.filter((one) => !known.has(one.entry.id));
  if (side === "before") {
    const items = [...added, ...old.items], kept = items.slice(0, MOST);
    return { items: kept, before: found.previous_cursor, after: kept.length < items.length ? String(kept.at(-1).place) : old.after };
  }
  const items = [...old.items, ...added], kept = items.slice(-MOST);
  return { items: kept, after: found.next_cursor, before: kept.length < items.length ? String(kept[0].place) : old.before, total: found.total, fresh: found.next_cursor === null ? 0 : old.fresh };
}
