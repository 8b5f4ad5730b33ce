// A session as a conversation: windows that grow on both sides, anchored where the reader reads.
import { html, useEffect, useLayoutEffect, useRef, useState } from "../vendor/preact.js";
import { canWrite } from "../lib/api.js";
import { day, plural, time, whole } from "../lib/format.js";
import { useKeys } from "../lib/keys.js";
import { change, entryHref, go, placeBefore, reading, route } from "../lib/route.js";
import { useTimeline } from "../lib/timeline.js";
import { hide } from "./acts.js";
import { Aside, hasAside, Kind, RawLine, Said, speaker } from "./entry.js";
import { bdi } from "./glyph.js";
import { Trouble, Waiting } from "./trouble.js";

const NEAR = 600;
const isAtEnd = () => innerHeight + scrollY >= document.documentElement.scrollHeight - 160;
const articles = (box) => [...(box?.querySelectorAll("article") ?? [])];
const daysLeft = (until) => Math.max(0, Math.round((new Date(until).getTime() - Date.now()) / 86_400_000));

/** @param {{session: string, types?: string, days: [place: number, label: string][], place: {at: number} | null, jump: (place: {at: number}) => void, onSeen: (from: number, to: number) => void}} props
 * `place` is where to go, once for each `jump` */
export function Feed({ session, types, days, place, jump, onSeen }) {
  const { at, hidden } = route.value.query;
  const box = useRef(), anchor = useRef(), wasAtEnd = useRef(true), shownAt = useRef("");
  const [active, setActive] = useState(at ?? "");
  const [raw, setRaw] = useState("");
  const left = useRef(/** @type {any} */ (placeBefore()));
  const firstSeen = () => {
    const first = articles(box.current).find((one) => one.getBoundingClientRect().bottom > 60);
    return first ? { entry: String(first.dataset.entry), from: first.getBoundingClientRect().top } : null;
  };
  const keepPlace = () => { wasAtEnd.current = isAtEnd(); anchor.current = firstSeen(); };
  useEffect(() => { reading.current = () => (isAtEnd() ? null : firstSeen()); return () => { reading.current = null; }; }, []);
  const line = useTimeline(session, { types, hidden: hidden === "1", at: at ?? left.current?.entry }, { isAtEnd, keepPlace });
  const now = useRef();
  now.current = { line, active, days };
  const standAt = (kept) => { const one = kept && find(kept.entry); if (one) scrollBy(0, one.getBoundingClientRect().top - kept.from); return one; };
  const find = (id) => articles(box.current).find((one) => one.dataset.entry === id);

  useLayoutEffect(() => {
    const kept = anchor.current;
    anchor.current = null;
    if (!line.items.length) return;
    const key = `${session} ${types} ${hidden} ${at ?? ""}`;
    const wanted = at && find(at);
    if (shownAt.current !== key && !line.isBusy && (wanted || !at)) {
      const isOther = !shownAt.current.startsWith(`${session} ${types} ${hidden} `);
      shownAt.current = key;
      if (wanted) { if (document.activeElement !== wanted) { wanted.scrollIntoView({ block: "center" }); wanted.focus({ preventScroll: true }); } setActive(at); }
      else if (isOther && !standAt(left.current)) scrollTo(0, document.documentElement.scrollHeight);
      left.current = null;
    } else if (kept && wasAtEnd.current && line.after === null) scrollTo(0, document.documentElement.scrollHeight);
    else standAt(kept);
  }, [line.items, line.isBusy, at]);

  useEffect(() => {
    let frame = 0;
    const look = () => {
      frame = 0;
      const { before, after, items } = now.current.line;
      if (!items.length) return;
      if (before !== null && scrollY < NEAR) now.current.line.grow("before");
      else if (after !== null && innerHeight + scrollY > document.documentElement.scrollHeight - NEAR && !now.current.line.isBusy) now.current.line.grow("after");
      const seen = articles(box.current).filter((one) => { const edge = one.getBoundingClientRect(); return edge.bottom > 60 && edge.top < innerHeight; });
      if (seen.length) onSeen(Number(seen[0].dataset.place), Number(seen.at(-1)?.dataset.place));
    };
    const plan = () => { frame ||= requestAnimationFrame(look); };
    addEventListener("scroll", plan, { passive: true });
    plan();
    return () => { removeEventListener("scroll", plan); cancelAnimationFrame(frame); };
  }, [line.items]);

  useEffect(() => {
    if (!place) return;
    line.begin({ around: place.at }).then((items) => {
      const next = items.find((one) => one.place >= place.at) ?? items.at(-1);
      if (next?.entry.id === route.value.query.at) focus(find(next?.entry.id)); else if (next) change({ at: next.entry.id });
    });
  }, [place]);

  const move = (step) => {
    const all = articles(box.current), here = all.findIndex((one) => one.dataset.entry === now.current.active);
    const start = here < 0 ? all.findIndex((one) => one.getBoundingClientRect().top > 60) - (step > 0 ? 1 : 0) : here;
    focus(all[Math.max(0, Math.min(all.length - 1, start + step))]);
  };
  const focus = (one) => {
    if (!one) return;
    setActive(one.dataset.entry);
    one.focus({ preventScroll: true });
    one.scrollIntoView({ block: "nearest" });
  };
  const otherDay = (step) => {
    const all = articles(box.current), id = now.current.active || firstSeen()?.entry, here = all.findIndex((one) => one.dataset.entry === id);
    const from = Number(all[step > 0 ? here : here - 1]?.dataset.place); // back to the day of the entry before, which may be this one
    const next = step > 0 ? now.current.days.find(([at]) => at > from) : now.current.days.findLast(([at]) => at <= from);
    if (next) jump({ at: next[0] }); else scrollTo(0, step > 0 ? document.documentElement.scrollHeight : 0);
  };
  const entryOf = (id) => now.current.line.items.find((one) => one.entry.id === id);
  const conceal = async (row) => {
    if (!row || row.hidden_at || !canWrite()) return;
    const { id } = row.entry;
    move(1);
    keepPlace();
    now.current.line.drop(id);
    const refresh = () => now.current.line.refresh();
    if (!await hide(session, row.entry, refresh)) refresh();
  };
  const mark = (id) => change({ at: id }, { replace: true }); // Back leads to the same place
  const follow = (id) => (event) => event.ctrlKey || event.metaKey || mark(id);
  const open = (id) => { if (id) { mark(id); go(entryHref(session, id)); } };
  useKeys({
    j: ["Next entry", () => move(1)], k: ["Entry before", () => move(-1)],
    Enter: ["Open", () => open(now.current.active)],
    r: ["Raw line", () => setRaw((id) => (id === now.current.active ? "" : now.current.active))],
    h: ["Hide", () => conceal(entryOf(now.current.active))],
    "[": ["Day before", () => otherDay(-1)], "]": ["Next day", () => otherDay(1)],
    ".": ["Actions", () => find(now.current.active)?.querySelector(".acts button, .acts a")?.focus()],
  });
  const toEnd = async () => { change({ at: "" }, { replace: true }); await line.begin({}); scrollTo(0, document.documentElement.scrollHeight); };

  const card = (row, previous) => {
    const { entry } = row, { id } = entry, isActive = id === active;
    const isNewDay = !previous || day(previous.entry.timestamp) !== day(entry.timestamp);
    return html`<article key=${id} class="entry" data-entry=${id} data-place=${row.place} data-type=${entry.type} data-active=${isActive ? "1" : undefined} data-hidden=${row.hidden_at ? "1" : undefined} data-came=${["recall", "tool"].includes(entry.origin) ? "1" : undefined}
        tabindex=${isActive ? 0 : -1} aria-posinset=${row.place} aria-setsize=${line.total} aria-label=${`${entry.type} ${time(entry.timestamp)}`}
        onFocus=${() => id !== active && setActive(id)} onClick=${() => id !== active && setActive(id)}>
      ${isNewDay && html`<h2 class="day">${day(entry.timestamp)}</h2>`}
      <header>${entry.type === "conversation" ? html`<strong class="who">${bdi(speaker(entry), 60)}</strong>` : html`<${Kind} type=${entry.type} /><span class="who quiet">${bdi(speaker(entry), 60)}</span>`}
        <a class="when" href=${entryHref(session, id)} title=${whole(entry.timestamp)} tabindex=${isActive ? 0 : -1} onClick=${follow(id)}>${time(entry.timestamp)}</a></header>
      <${Said} entry=${entry} link=${entryHref(session, id)} />
      ${hasAside(row) && html`<${Aside} row=${row} />`}
      ${isActive && html`<div class="acts row small"><a class="button" href=${entryHref(session, id)} onClick=${follow(id)}>Open</a><button aria-pressed=${raw === id} onClick=${() => setRaw(raw === id ? "" : id)}>Raw</button>
        ${row.hidden_at ? html`<span class="quiet">hidden, restorable ${daysLeft(row.hidden_until)} d</span>` : canWrite() && html`<button onClick=${() => conceal(row)}>Hide</button>`}</div>`}
      ${raw === id && html`<${RawLine} session=${session} entry=${id} />`}</article>`;
  };

  if (line.trouble && !line.items.length) return html`<${Trouble} trouble=${line.trouble} again=${() => line.begin({})} />`;
  if (!line.items.length) return line.isBusy ? html`<${Waiting} load=${{ isSlow: true, leave: line.leave }} />` : html`<p class="empty">Nothing to read here${types ? " with these types" : ""}.</p>`;
  return html`<div role="feed" class="feed" ref=${box} aria-label="Entries" aria-busy=${line.isBusy}>
      ${folds(line.items).map(({ isHidden, rows, previous }) => {
        const cards = rows.map((row, index) => card(row, index ? rows[index - 1] : previous));
        return isHidden ? html`<details key=${`hidden ${rows[0].entry.id}`} class="card fold-hidden"><summary class="small quiet">${plural(rows.length, "hidden entry", "hidden entries")} (restorable ${daysLeft(rows[0].hidden_until)} d)</summary>${cards}</details>` : cards;
      })}
    </div>
    ${(line.fresh > 0 || line.after !== null) && html`<button class="main newer" onClick=${toEnd}>↓ ${line.fresh > 0 ? `${line.fresh} new` : "to the end"}</button>`}`;
}

/** Rows in groups; hidden ones that follow each other fold into one. */
function folds(items) {
  const groups = [];
  items.forEach((row, index) => {
    const isHidden = Boolean(row.hidden_at);
    if (groups.at(-1)?.isHidden !== isHidden) groups.push({ isHidden, rows: [], previous: items[index - 1] });
    groups.at(-1).rows.push(row);
  });
  return groups;
}
