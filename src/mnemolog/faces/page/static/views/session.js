// One session, read as a conversation; at a glance by time, where a click or a day leads there.
import { html, useEffect, useRef, useState } from "../vendor/preact.js";
import { url } from "../lib/api.js";
import { bytes, count, day, entries, percent, plural, whole } from "../lib/format.js";
import { useKeys } from "../lib/keys.js";
import { useGet } from "../lib/load.js";
import { change, go, here, href, route } from "../lib/route.js";
import { Deeds, deeds } from "../parts/acts.js";
import { choice, Facet, Select, Tabs } from "../parts/choices.js";
import { facts } from "../parts/entry.js";
import { Feed } from "../parts/feed.js";
import { useActions } from "../parts/frame.js";
import { bdi, Glyph, ORDER } from "../parts/glyph.js";
import { Loaded, Trouble } from "../parts/trouble.js";

const TABS = [["", "Timeline"], ["decision", "Decisions"], ["finding", "Findings"], ["preference", "Preferences"], ["files", "Files"]];

export function View() {
  const id = route.value.path[1];
  const load = useGet(url`/sessions/${id}`, {}, ["session", "hidden"]);
  useEffect(() => { document.title = `${id} · mnemolog`; });
  if (load.trouble && !load.value) return html`<div class="head"><h1 class="mono">${bdi(id)}</h1></div><${Trouble} trouble=${load.trouble} again=${load.again} />`;
  return html`<${Session} key=${id} id=${id} session=${load.value} again=${load.again} />`;
}
View.title = "Session";

/** `session` is null until it is read; the entries are read meanwhile, and the map after them. */
function Session({ id, session, again }) {
  const { tab = "", types, details, hidden, agent = "", user = "" } = route.value.query;
  const [seen, see] = useState([0, 0]);
  const hasSeen = seen[1] > 0;
  const map = useGet(hasSeen && url`/sessions/${id}/minimap`, { buckets: 160, ahead: -new Date().getTimezoneOffset() });
  const all = session ? deeds([session], (word) => (word === "Delete" ? go(href(["sessions"])) : again())) : [];
  useActions(all.map((deed) => [`${deed.word} this session…`, deed.run]), [id, session?.state]);
  const buckets = map.value?.buckets ?? [], days = daysOf(buckets);
  const [place, jump] = useState(/** @type {{at: number} | null} */ (null));
  return html`<div class="head stays"><h1 class="mono">${bdi(id)}</h1>
      ${session && html`<span class="state" data-state=${session.state}>${session.state}</span><span>${entries(session.entries)}</span>`}
      <button aria-pressed=${details === "1"} onClick=${() => change({ details: details === "1" ? "" : "1" }, { replace: true })}>Details</button></div>
    <${Tabs} tabs=${TABS} label="Parts of the session" counts=${session?.by_type} />
    ${details === "1" && session && html`<${Details} session=${session} all=${all} />`}
    ${tab === "files" ? html`<${Files} id=${id} />` : html`
      <div class="facets">${tab === "" && html`<${Facet} name="types" label="Types" counts=${session?.by_type} isMany glyph=${(type) => html`<${Glyph} type=${type} />`} />`}
        ${days.length > 1 && html`<${Select} label="Go to" options=${[["", "a day"], ...days]} choose=${(at) => at && jump({ at: Number(at) })} />`}
        ${session?.hidden > 0 && choice(`${count(session.hidden)} hidden`, here({ hidden: hidden === "1" ? "" : "1" }), hidden === "1")}
        ${session?.quarantined > 0 && choice(`${plural(session.quarantined, "unreadable line")} kept`, href(["health"], { tab: "doctor" }), false, { class: "chip choice warn" })}</div>
      <div class="timeline"><div><${Feed} key=${[tab, types, hidden, agent, user].join("\n")} session=${id} types=${tab || types} days=${days} jump=${jump} place=${place} onSeen=${(from, last) => see((now) => (now[0] === from && now[1] === last ? now : [from, last]))} /></div>
        <div class="map"><${Minimap} buckets=${buckets} from=${seen[0]} to=${seen[1]} jump=${(at) => jump({ at })} /></div></div>`}`;
}

function Details({ session, all }) {
  const close = () => change({ details: "" }, { replace: true });
  useKeys({ Escape: ["Close", close] });
  const told = [["User", session.user_id ?? "–"], ["Agents", session.agent_ids.join(", ") || "–"], ["Made", whole(session.created_at)], ["Last entry", whole(session.last_entry_at)],
    ["Size", `${bytes(session.size_bytes)} of ${bytes(session.limit_bytes)} (${percent(session.limit_bytes ? session.size_bytes / session.limit_bytes : 0)})`],
    ["By agent", Object.entries(session.by_agent).map(([name, many]) => `${name} ${count(many)}`).join(", ") || "–"],
    ["Revisions", count(session.revisions)], ["Redacted", Object.entries(session.redactions).map(([kind, many]) => `${kind} ${many}`).join(", ") || "nothing"],
    ["Learned from", session.knowledge.pending ? `up to ${session.knowledge.processed_until}; more waits` : session.knowledge.processed_until ? `up to ${session.knowledge.processed_until}` : "not yet"]];
  const objects = [["Metadata", session.metadata], ["Preferences", session.preferences], ["Markers", session.markers], ["Settings of its own", session.overrides]];
  return html`<aside class="details" aria-label="About this session"><div class="head"><h2>About this session</h2><button onClick=${close}>Close</button></div>
    ${facts([...told.map(([name, value]) => [name, bdi(value)]), ...objects.filter(([, value]) => Object.keys(value ?? {}).length).map(([name, value]) => [name, html`<code>${bdi(JSON.stringify(value), 4000)}</code>`])])}
    <div class="row"><${Deeds} all=${all} /></div></aside>`;
}

function Files({ id }) {
  const load = useGet(url`/sessions/${id}/files`, {}, ["session"]);
  return html`<${Loaded} load=${load}>${(found) => html`<p class="quiet">Exactly as on disk, below the root.</p><table class="cards">
    <thead><tr><th scope="col">file</th><th scope="col" class="num">bytes</th><th scope="col">mode</th><th scope="col">changed</th></tr></thead>
    <tbody>${found.files.map((one) => html`<tr key=${one.name}><td class="mono">${bdi(one.name)}</td><td class="num">${count(one.bytes)} <span class="narrow">bytes</span></td><td class="mono">${one.mode}</td><td>${whole(one.modified)}</td></tr>`)}</tbody></table>`}</>`;
}

const WIDE = 40, FEW = 24; // what is read at a glance needs no map

/** The days of a session, each with the place where it begins. @param {any[]} buckets @returns {[place: number, label: string][]} */
const daysOf = (buckets) => buckets.flatMap((one) => Object.entries(one.days).map(([at, place]) => [place, day(at)]));

function Minimap({ buckets, from, to, jump }) {
  const box = useRef();
  if (buckets.length < FEW) return null;
  const most = Math.max(...buckets.map(total), 1);
  const paths = ORDER.map((type) => [type, bars(buckets, type, most)]).filter(([, path]) => path);
  const first = at(buckets, from), last = at(buckets, to) + 1;
  const click = (event) => {
    const edge = box.current.getBoundingClientRect();
    const share = Math.max(0, Math.min(0.9999, (event.clientY - edge.top) / edge.height));
    jump(buckets[Math.floor(share * buckets.length)].from_seq);
  };
  return html`<svg ref=${box} class="minimap" viewBox=${`0 0 ${WIDE} ${buckets.length}`} preserveAspectRatio="none" aria-hidden="true" onClick=${click}>
    <rect class="seen" x="0" y=${first} width=${WIDE} height=${Math.max(last - first, buckets.length / 100)} />
    ${paths.map(([type, path]) => html`<path key=${type} data-type=${type} d=${path} />`)}</svg>`;
}

const total = (one) => Object.values(one.by_type).reduce((all, many) => all + many, 0);
const at = (buckets, place) => Math.max(0, buckets.findLastIndex((one) => one.from_seq <= place));

function bars(buckets, type, most) {
  let path = "";
  buckets.forEach((one, row) => {
    const many = one.by_type[type];
    if (!many) return;
    const before = ORDER.slice(0, ORDER.indexOf(type)).reduce((all, name) => all + (one.by_type[name] ?? 0), 0);
    path += `M${((before / most) * WIDE).toFixed(1)} ${row}h${Math.max((many / most) * WIDE, 1.5).toFixed(1)}v.8h-${Math.max((many / most) * WIDE, 1.5).toFixed(1)}z`;
  });
  return path;
}
