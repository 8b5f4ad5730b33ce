// One session, read as a conversation.
import { html, useEffect, useState } from "../vendor/preact.js";
import { get, me, url } from "../lib/api.js";
import { bytes, count, percent, plural, whole } from "../lib/format.js";
import { takeKeys } from "../lib/keys.js";
import { useLoad } from "../lib/load.js";
import { change, go, href, route } from "../lib/route.js";
import { act, VERBS } from "../parts/acts.js";
import { Feed } from "../parts/feed.js";
import { Facet } from "../parts/filters.js";
import { Glyph, Text } from "../parts/glyph.js";
import { actions } from "../parts/menu.js";
import { daysOf, Minimap } from "../parts/minimap.js";
import { Loaded } from "../parts/trouble.js";

const TABS = [["", "Timeline"], ["decision", "Decisions"], ["finding", "Findings"], ["preference", "Preferences"], ["files", "Files"]];

export function View() {
  const id = route.value.path[1];
  const load = useLoad((stop) => get(url`/sessions/${id}`, {}, stop), ["session", id], { topics: ["session", "hidden"] });
  useEffect(() => { document.title = `${id} · mnemolog`; });
  return html`<${Loaded} load=${load}>${(found) => html`<${Session} key=${id} session=${found} again=${load.again} />`}</>`;
}
View.title = "Session";

function Session({ session, again }) {
  const { tab = "", types, details, hidden, agent = "", user = "" } = route.value.query;
  const [seen, see] = useState([0, 0]);
  const map = useLoad((stop) => get(url`/sessions/${session.id}/minimap`, { buckets: 160 }, stop), ["minimap", session.id]);
  const chosen = new Set([session.id]);
  const run = (verb) => act(verb, [session.id], [session], () => (verb.word === "Delete" ? go(href(["sessions"])) : again()));
  const verbs = me.value?.scope?.read_only ? VERBS.filter((verb) => verb.word === "Export") : VERBS.filter((verb) => verb.fits([session], chosen));
  useEffect(() => {
    actions.value = verbs.map((verb) => ({ label: `${verb.word} this session…`, run: () => run(verb) }));
    return () => { actions.value = []; };
  }, [session.id, session.state]);
  const buckets = map.value?.buckets ?? [];
  const [place, jump] = useState(/** @type {{at: number} | null} */ (null));
  const to = (name) => href(["sessions", session.id], { tab: name });
  return html`<div class="head stays"><h1 class="mono"><${Text} text=${session.id} /></h1>
      <span class="state" data-state=${session.state}>${session.state}</span><span>${plural(session.entries, "entry", "entries")}</span>
      <button aria-pressed=${String(details === "1")} onClick=${() => change({ details: details === "1" ? "" : "1" }, { replace: true })}>Details</button></div>
    <nav class="tabs" aria-label="Parts of the session">${TABS.map(([name, label]) => html`<a key=${name} href=${to(name)} aria-current=${tab === name ? "page" : undefined}>${label}${session.by_type[name] ? html` <span class="quiet">${count(session.by_type[name])}</span>` : ""}</a>`)}</nav>
    ${details === "1" && html`<${Details} session=${session} verbs=${verbs} run=${run} />`}
    ${tab === "files" ? html`<${Files} id=${session.id} />` : html`
      <div class="facets">${tab === "" && html`<${Facet} name="types" label="Types" counts=${session.by_type} isMany glyph=${(type) => html`<${Glyph} type=${type} />`} />`}
        ${daysOf(buckets).length > 1 && html`<label class="small">Go to <select onChange=${(event) => event.currentTarget.value && jump({ at: Number(event.currentTarget.value) })}><option value="">a day</option>${daysOf(buckets).map((one) => html`<option key=${one.place} value=${one.place}>${one.label}</option>`)}</select></label>`}
        ${session.hidden > 0 && html`<a class="chip choice" href=${href(["sessions", session.id], { ...route.value.query, hidden: hidden === "1" ? "" : "1" })} aria-current=${hidden === "1" ? "true" : undefined}>${count(session.hidden)} hidden</a>`}
        ${session.quarantined > 0 && html`<a class="chip choice warn" href=${href(["health"], { tab: "doctor" })}>${plural(session.quarantined, "unreadable line")} kept</a>`}</div>
      <div class="timeline"><div class="lines"><${Feed} key=${[tab, types, hidden, agent, user].join("\n")} session=${session} types=${tab || types} place=${place} onSeen=${(from, last) => see((now) => (now[0] === from && now[1] === last ? now : [from, last]))} /></div>
        <div class="map"><${Minimap} buckets=${buckets} from=${seen[0]} to=${seen[1]} jump=${(at) => jump({ at })} /></div></div>`}`;
}

function Details({ session, verbs, run }) {
  const close = () => change({ details: "" }, { replace: true });
  useEffect(() => takeKeys({ Escape: { label: "Close", run: close } }), []);
  const told = [["User", session.user_id ?? "–"], ["Agents", session.agent_ids.join(", ") || "–"], ["Made", whole(session.created_at)], ["Last entry", whole(session.last_entry_at)],
    ["Size", `${bytes(session.size_bytes)} of ${bytes(session.limit_bytes)} (${percent(session.limit_bytes ? session.size_bytes / session.limit_bytes : 0)})`],
    ["By agent", Object.entries(session.by_agent).map(([name, many]) => `${name} ${count(many)}`).join(", ") || "–"],
    ["Revisions", count(session.revisions)], ["Redacted", Object.entries(session.redactions).map(([kind, many]) => `${kind} ${many}`).join(", ") || "nothing"],
    ["Learned from", session.knowledge.pending ? `up to ${session.knowledge.processed_until}; more waits` : session.knowledge.processed_until ? `up to ${session.knowledge.processed_until}` : "not yet"]];
  const objects = [["Metadata", session.metadata], ["Preferences", session.preferences], ["Markers", session.markers], ["Settings of its own", session.overrides]];
  return html`<aside class="details" aria-label="About this session"><div class="head"><h2>About this session</h2><button onClick=${close}>Close</button></div>
    <dl class="told">${told.map(([name, value]) => html`<div key=${name}><dt>${name}</dt><dd><${Text} text=${value} /></dd></div>`)}
      ${objects.map(([name, value]) => Object.keys(value ?? {}).length > 0 && html`<div key=${name}><dt>${name}</dt><dd><code><${Text} text=${JSON.stringify(value)} most=${4000} /></code></dd></div>`)}</dl>
    <div class="row">${verbs.map((verb) => html`<button key=${verb.word} class=${verb.isFinal ? "danger" : ""} onClick=${() => run(verb)}>${verb.word}…</button>`)}</div></aside>`;
}

function Files({ id }) {
  const load = useLoad((stop) => get(url`/sessions/${id}/files`, {}, stop), ["files", id], { topics: ["session"] });
  return html`<${Loaded} load=${load}>${(found) => html`<p class="quiet">Exactly as on disk, below the root.</p><div class="scroll"><table>
    <thead><tr><th scope="col">file</th><th scope="col" class="num">bytes</th><th scope="col">mode</th><th scope="col">changed</th></tr></thead>
    <tbody>${found.files.map((one) => html`<tr key=${one.name}><td class="mono"><${Text} text=${one.name} /></td><td class="num">${count(one.bytes)}</td><td class="mono">${one.mode}</td><td>${whole(one.modified)}</td></tr>`)}</tbody></table></div>`}</>`;
}
