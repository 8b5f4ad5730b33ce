// All sessions: found by facets, chosen in bulk, cleared, archived, restored, exported, deleted.
import { html, useEffect, useRef, useState } from "../vendor/preact.js";
import { canWrite, get } from "../lib/api.js";
import { draftOf } from "../lib/draft.js";
import { ago, bytes, count, percent, plural, whole } from "../lib/format.js";
import { focusOn, useKeys } from "../lib/keys.js";
import { useEvents } from "../lib/live.js";
import { useGet, useLoad } from "../lib/load.js";
import { go, href, route } from "../lib/route.js";
import { deeds, Deeds } from "../parts/acts.js";
import { Choice, Facet, Filters, Words } from "../parts/choices.js";
import { useActions } from "../parts/frame.js";
import { bdi, Strip } from "../parts/glyph.js";
import { Grid } from "../parts/table.js";
import { Loaded } from "../parts/trouble.js";

const PAGE = 200;
const PAUSE = 250;
const SORTS = [["", "last entry"], ["-created", "newest"], ["created", "oldest"], ["id", "id"]];
const COLUMNS = [
  { name: "id", label: "session", cell: (one) => html`<a class="mono" href=${href(["sessions", one.id])} tabindex="-1">${bdi(one.id)}</a>` },
  { name: "who", label: "agents", cell: (one) => html`${bdi(one.agent_ids.join(", ") || "–")}${one.user_id && html` <span class="faint">for ${bdi(one.user_id)}</span>`}` },
  { name: "status", label: "state", cell: (one) => html`<span class="state" data-state=${one.state}>${one.state}</span>` },
  { name: "last", label: "last entry", cell: (one) => html`<time datetime=${one.last_entry_at} title=${whole(one.last_entry_at)}>${ago(one.last_entry_at)}</time>` },
  { name: "entries", label: "entries", cell: (one) => html`<span class="many">${count(one.entries)}</span> <${Strip} types=${one.by_type} />` },
  { name: "size", label: html`size <span class="share"></span>`, isNumber: true, cell: (one) => html`<span title=${`of ${bytes(one.limit_bytes)}`}>${bytes(one.size_bytes)}${one.limit_bytes > 0 && html` <span class="share quiet">${one.size_bytes >= one.limit_bytes / 100 && percent(one.size_bytes / one.limit_bytes)}</span>`}</span>` },
];

const asked = () => {
  const { state, q, sort } = route.value.query;
  return { state, q, sort, limit: PAGE };
};

/** The list, grown by cursors; what arrives never moves what is being pointed at. */
function useSessions() {
  const query = asked();
  const load = useGet("/sessions", query);
  const [list, set] = useState();
  const [fresh, notice] = useState(0);
  const isFetching = useRef(false), timer = useRef(0), mark = useRef(0);
  useEffect(() => { if (load.value) { set(load.value); notice(0); mark.current += 1; } }, [load.value]);
  const more = async () => {
    if (isFetching.current || !list?.next_cursor) return;
    isFetching.current = true;
    const mine = mark.current;
    try {
      const next = await get("/sessions", { ...query, cursor: list.next_cursor });
      if (mine === mark.current) set((now) => ({ ...next, items: [...now.items, ...next.items] }));
    } catch { /* asked again at the next scroll */ } finally { isFetching.current = false; }
  };
  const refresh = async () => {
    timer.current = 0;
    try {
      const next = await get("/sessions", asked());
      const isBusy = document.querySelector(".grid:hover, .grid :focus-visible") || scrollY > 200 || document.querySelector(".grid [aria-selected='true']");
      set((now) => (isBusy && now?.items.length ? merged(now, next, notice) : (notice(0), next)));
    } catch { /* the dot tells */ }
  };
  useEvents(["session", "entry", "hidden"], () => { timer.current ||= setTimeout(refresh, PAUSE); });
  return { load: { ...load, value: list }, fresh, more, again: load.again };
}

function merged(now, next, notice) {
  const known = new Map(next.items.map((one) => [one.id, one]));
  const before = new Set(now.items.map((one) => one.id));
  notice(next.items.filter((one) => !before.has(one.id)).length);
  return { ...now, total: next.total, facets: next.facets, items: now.items.map((one) => known.get(one.id) ?? one) };
}

/** The view of an empty memory is fetched only where it is needed. */
function Later({ isEmpty }) {
  const load = useLoad(() => import("../parts/first.js"), ["first"]);
  return load.value && html`<${load.value.FirstRun} isEmpty=${isEmpty} />`;
}

export function View() {
  const { load, fresh, more, again } = useSessions();
  const [chosen, choose] = useState(/** @type {Set<string>} */ (new Set()));
  const { state, q, agent, user } = route.value.query;
  const isFiltered = state || q || agent || user;
  useEffect(() => { choose(new Set()); }, [state, q, agent, user]);
  const items = load.value?.items ?? [], picked = items.filter((one) => chosen.has(one.id)), demo = items.filter((one) => /^demo-week-(payments|incident)$/.test(one.id));
  const all = deeds(picked, () => { choose(new Set()); again(); });
  useActions(all.map((deed) => [deed.label, deed.run]), [chosen, items]);
  useKeys({ ".": ["Actions", () => focusOn(".bulk button")] });
  const isEmpty = load.value?.total === 0 && !isFiltered;
  return html`<${Loaded} load=${load} rows=${12}>${(found) => html`${(isEmpty || draftOf("first")) && html`<${Later} isEmpty=${isEmpty} />`}${!isEmpty && html`
    <div class="head"><h1>Sessions</h1><${Words} name="q" label="Filter sessions" /><${Choice} name="sort" label="Sort by" options=${SORTS} /></div>
    <${Filters}><${Facet} name="state" label="State" counts=${found.facets.states} />${!agent && html`<${Facet} name="agent" label="Agent" counts=${found.facets.agents} />`}${!user && html`<${Facet} name="user" label="User" counts=${found.facets.users} />`}</>
    <div class="bulk row" role="group" aria-label="Actions on the selection" data-on=${picked.length ? "1" : undefined}>
      ${picked.length ? html`<strong>${count(picked.length)} selected</strong><${Deeds} all=${all} /><button class="bare" onClick=${() => choose(new Set())}>Select none</button>`
        : html`<span class="quiet">${plural(found.total, "session")}${isFiltered ? " with these filters" : ""}</span>`}
      ${fresh > 0 && html`<button onClick=${() => { scrollTo(0, 0); again(); }}>↑ ${count(fresh)} new</button>`}
      ${demo.length > 0 && !picked.length && canWrite() && html`<button class="bare small quiet" onClick=${deeds(demo, again).find((deed) => deed.isFinal)?.run}>Remove the demo week…</button>`}
    </div>
    ${found.items.length ? html`<${Grid} label="Sessions" columns=${COLUMNS} rows=${found.items} total=${found.total} keyOf=${(one) => one.id} open=${(one) => go(href(["sessions", one.id]))} chosen=${chosen} choose=${choose} more=${more} />`
      : html`<p class="empty">No session fits these filters. <a href=${href(["sessions"], { agent: "", user: "" })}>Show all</a></p>`}`}`}</>`;
}
View.title = "Sessions";
