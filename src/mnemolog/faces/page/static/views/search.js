// Search: hits while one types, each with its reasons; or what a model would be told.
import { html, useEffect, useLayoutEffect, useRef, useState } from "../vendor/preact.js";
import { post } from "../lib/api.js";
import { count, entries, plural } from "../lib/format.js";
import { isEntered, step, useKeys } from "../lib/keys.js";
import { useEvents } from "../lib/live.js";
import { useLoad } from "../lib/load.js";
import { nodeHref } from "../lib/nodes.js";
import { change, entryHref, go, here, route } from "../lib/route.js";
import { Choice, Facet, Filters, listed, openTab, Select, Tabs } from "../parts/choices.js";
import { bdi, Glyph, seen } from "../parts/glyph.js";
import { Hit, keyOf, placeOf } from "../parts/hit.js";
import { Loaded, Trouble, Waiting } from "../parts/trouble.js";

const TABS = /** @type {[string, string][]} */ ([["hits", "Hits"], ["context", "Context"]]);
const PAUSE = 120;
const FEW = 20;
const WHEN = [["", "any time"], ["last day", "a day"], ["last week", "a week"], ["last month", "a month"], ["last year", "a year"]];
const SORTS = [["", "relevance"], ["time_desc", "newest"], ["time_asc", "oldest"]];
const LEAST = [["", "any"], ...["0.2", "0.4", "0.6", "0.8"].map((one) => [one, one])];
const SCORERS = [["", "recall"], ["weighted", "weighted"], ["product", "product"]];

function wanted() {
  const { q = "", kind, when, sort, min, scorer, session, n } = route.value.query;
  const agents = listed("agents");
  return {
    text: q, quiet: true, types: listed("types"), tags: listed("tags"), limit: Math.min(200, Number(n) || FEW), session_id: session || null,
    ...(agents.length && { agents }), ...(kind && { kinds: [kind] }), ...(when && { time_range: when }), ...(sort && { sort }), ...(min && { min_relevance: Number(min) }), ...(scorer && { scorer }),
    ...(!q.trim() && !sort && { sort: "time_desc" }),
  };
}

export function View() {
  const { q = "" } = route.value.query, view = openTab(TABS, "view");
  const now = JSON.stringify(wanted());
  const [asked, ask] = useState(now);
  const [fresh, notice] = useState(0);
  useEffect(() => { const timer = setTimeout(() => { ask(now); notice(0); }, PAUSE); return () => clearTimeout(timer); }, [now]);
  const load = useLoad((stop) => (view === "hits" ? post("/search", JSON.parse(asked), { signal: stop }) : Promise.resolve(null)), ["search", asked, view]);
  const last = useRef();
  if (load.value) last.current = load.value;
  useEvents(["entry"], (events) => notice((many) => many + events.filter((one) => one.topic === "entry").length));
  const found = last.current;
  return html`<div class="head"><h1>Search</h1>${view === "hits" && found && html`<small aria-live="polite">${plural(found.total, "hit")}${found.total_exact ? "" : " or more"} · ${(found.took_ms / 1000).toFixed(3)} s${found.index.caught_up ? "" : " · the index catches up"}</small>`}</div>
    <${Tabs} tabs=${TABS} label="Hits or context" name="view" to=${(one) => here({ view: one })} />
    ${view === "context" ? html`<${ContextBlock} q=${q} />` : html`
      ${found && html`<${Filters}><${Facet} name="types" label="Type" isMany counts=${found.facets.types} glyph=${(type) => html`<${Glyph} type=${type} />`} />${Object.keys(found.facets.kinds).length > 1 && html`<${Facet} name="kind" label="Kind" counts=${found.facets.kinds} />`}<${Facet} name="agents" label="Agent" isMany counts=${found.facets.agents} most=${4} /><${Facet} name="tags" label="Tag" isMany counts=${found.facets.tags} most=${6} />
        <div class="row"><${Choice} name="when" label="When" options=${WHEN} /><${Choice} name="min" label="Least" options=${LEAST} /><${Choice} name="sort" label="Sort" options=${SORTS} /><${Choice} name="scorer" label="Scorer" options=${SCORERS} /></div></>`}
      <${Trouble} trouble=${load.trouble} again=${load.again} />
      ${found?.notes?.map((note) => html`<p class="small quiet">${note}</p>`)}
      ${fresh > 0 && html`<button onClick=${() => { notice(0); load.again(); }}>↻ ${entries(fresh)} written since: search again</button>`}
      ${found ? html`<${Hits} found=${found} q=${q} isBusy=${load.isBusy || asked !== now} />` : html`<${Waiting} load=${load} />`}`}`;
}
View.title = "Search";

function Hits({ found, q, isBusy }) {
  const box = useRef();
  const [at, setAt] = useState(0);
  const [why, setWhy] = useState("");
  const now = useRef({ hits: found.hits, at });
  now.current = { hits: found.hits, at }; // the next key may come before the next drawing
  useEffect(() => { setAt(0); setWhy(""); }, [q]);
  useLayoutEffect(() => { if (isEntered.value && !isBusy) { isEntered.value = false; box.current?.children[0]?.focus(); } }, [isEntered.value, isBusy]);
  const isHeld = !!box.current?.contains(document.activeElement); // asked before the new hits are drawn
  useLayoutEffect(() => { if (isHeld) box.current?.children[now.current.at]?.focus({ preventScroll: true }); }, [found]);
  const move = (by) => step([...(box.current?.children ?? [])], by);
  const here = () => now.current.hits[now.current.at];
  useKeys({
    j: ["Next hit", () => move(1)], k: ["Hit before", () => move(-1)],
    w: ["Why", () => here() && setWhy((key) => (key === keyOf(here()) ? "" : keyOf(here())))],
    Enter: ["Open", () => here() && go(placeOf(here()))],
  });
  if (!found.hits.length) return html`<p class="empty">${q ? html`Nothing fits “${bdi(q, 80)}”.` : "Nothing is there."} ${Object.keys(route.value.query).length > 0 && "Fewer filters or other words may help."}</p>`;
  const left = found.total - found.hits.length;
  return html`<ol class="plain hits" ref=${box} aria-busy=${isBusy}>${found.hits.map((hit, index) => html`<${Hit} key=${keyOf(hit)} hit=${hit} rank=${index + 1} above=${found.hits[index - 1]} isActive=${index === at} isWhy=${why === keyOf(hit)}
      onWhy=${() => setWhy(why === keyOf(hit) ? "" : keyOf(hit))} onFocus=${() => setAt(now.current.at = index)} />`)}</ol>
    ${left > 0 && found.hits.length < 200 && html`<p><button onClick=${() => change({ n: Math.min(200, found.hits.length + 40) }, { replace: true })}>Show more: ${count(left)} weaker</button></p>`}`;
}

const BUDGETS = [500, 1000, 2000, 4000, 8000];

/** How an item begins, as the block says it. */
function begun(text, id) {
  const mark = [`- [${id}]`, `- [${JSON.stringify(id)}]`].find((one) => text.includes(one));
  const lines = mark ? text.slice(text.indexOf(mark) + mark.length).split("\n", 6).slice(1) : [];
  return lines.filter((line) => line.startsWith("  | ")).map((line) => line.slice(4)).find((line) => line.length > 8) ?? lines[0]?.slice(4);
}

/** What a model would be told: exactly the block that the library gives, and what each part costs. */
function ContextBlock({ q }) {
  const { agent, session, budget = "2000" } = route.value.query;
  const [text, wait] = useState(q);
  useEffect(() => { const timer = setTimeout(() => wait(q), 200); return () => clearTimeout(timer); }, [q]);
  const load = useLoad((stop) => post("/context", { text, session_id: session || null, budget_tokens: Number(budget), quiet: true }, { signal: stop }), ["context", text, session, budget]);
  return html`<div class="stack"><div class="row"><${Select} label="Budget" value=${budget} options=${BUDGETS.map((one) => [one, `${count(one)} tokens`])} choose=${(one) => change({ budget: one })} />
      ${session && html`<span class="chip">session ${bdi(session)} <a href=${here({ session: "" })}>all</a></span>`}${agent && html`<span class="chip">as ${bdi(agent)}</span>`}</div>
    <${Loaded} load=${load}>${(found) => html`
      <p><strong data-tokens>${plural(found.tokens, "token")}</strong> <span class="quiet">of ${count(Number(budget))} · ${plural(found.items.length, "item")}${found.omitted ? ` · ${count(found.omitted)} did not fit` : ""}</span></p>
      <div class="columns"><section><h2>The block, exactly</h2><pre class="card exact" tabindex="0" aria-label="The block, exactly">${seen(found.text)}</pre></section>
      ${found.items.length > 0 && html`<section><h2>What it is made of</h2><table><thead><tr><th scope="col">item</th><th scope="col" class="num">tokens</th></tr></thead><tbody>${found.items.map((one) => {
        const words = bdi(begun(found.text, one.id) || one.id, 90), leads = one.kind === "entry" ? entryHref : nodeHref;
        return html`<tr key=${one.id} title=${one.id}><td>${one.home ? html`<a href=${leads(one.home, one.id)}>${words}</a>` : words}</td><td class="num">${count(one.tokens)}</td></tr>`;
      })}</tbody></table></section>`}</div>`}</></div>`;
}
