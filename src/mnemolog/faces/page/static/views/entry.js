// One entry, looked at closely: what it says, where it came from, how much of it is left, what it hangs together with.
import { html, useState } from "../vendor/preact.js";
import { call, canWrite, get, url } from "../lib/api.js";
import { discard, draftOf, keepDraft, useDraft } from "../lib/draft.js";
import { count, day, entries, ORIGINS, score, titleOf, typing, whole, words } from "../lib/format.js";
import { focusOn, useKeys } from "../lib/keys.js";
import { useEvents } from "../lib/live.js";
import { sending, useGet } from "../lib/load.js";
import { nodeHref } from "../lib/nodes.js";
import { entryHref, go, here, href, route } from "../lib/route.js";
import { carryOut, hide } from "../parts/acts.js";
import { useMeeting } from "../parts/conflict.js";
import { facts, Kind, Pips, RawLine, Said, speaker } from "../parts/entry.js";
import { bdi } from "../parts/glyph.js";
import { proven } from "../parts/job.js";
import { toast } from "../parts/toast.js";
import { Loaded, Trouble } from "../parts/trouble.js";

export function View() {
  const [, session, , id] = route.value.path;
  const load = useGet(url`/sessions/${session}/entries/${id}`, {}, ["hidden"]);
  useEvents(["entry"], (events) => { if (events.some((one) => one.id === id && one.session_id === session)) load.again(); });
  return html`${load.trouble && !load.value && html`<div class="head"><h1 class="mono">${bdi(id)}</h1></div>`}<${Loaded} load=${load}>${(row) => html`<${Entry} key=${`${session} ${id}`} row=${row} session=${session} id=${id} again=${load.again} />`}</>`;
}
View.title = "Entry";

function Entry({ row, session, id, again }) {
  const { entry } = row;
  const [isEditing, edit] = useState(() => draftOf(`entry ${session}/${id}`) !== null);
  const beside = async (query) => {
    const found = await get(url`/sessions/${session}/entries`, { ...query, limit: 1 });
    const next = found.items[0]?.entry.id;
    if (next) go(entryHref(session, next)); else toast("There is no further entry.");
  };
  const conceal = async () => { if (await hide(session, entry, again)) again(); };
  const erase = async () => {
    const done = await carryOut({ action: "erase", selector: { session_id: session, ids: [id] }, title: "Erase this entry", verb: (counts) => `Erase ${entries(counts.entries)}`, isFinal: true });
    if (!done) return;
    toast(proven(done.receipt));
    go(href(["sessions", session]), { replace: true });
  };
  useKeys({
    h: ["Hide", () => canWrite() && !row.hidden_at && conceal()],
    e: ["Edit", () => canWrite() && edit((now) => !now)],
    r: ["Raw line", () => focusOn(".raw pre")],
    "[": ["Entry before", () => beside({ before_seq: row.place })], "]": ["Next entry", () => beside({ after_seq: row.place })],
    ".": ["Actions", () => focusOn(".deeds button")],
  });
  return html`<p class="small"><a href=${href(["sessions", session], { at: id })}>← ${bdi(session)}</a></p>
    <div class="head"><h1><${Kind} type=${entry.type} /></h1>
      <div class="row deeds"><button onClick=${() => beside({ before_seq: row.place })} aria-label="Entry before" title="Entry before ( [ )">←</button><button onClick=${() => beside({ after_seq: row.place })} aria-label="Next entry" title="Next entry ( ] )">→</button>
        ${canWrite() && html`<button aria-pressed=${isEditing} onClick=${() => edit(!isEditing)}>Edit</button>${!row.hidden_at && html`<button onClick=${conceal}>Hide</button>`}<button class="danger" onClick=${erase}>Erase…</button>`}</div></div>
    ${row.hidden_at && html`<p class="card warn">Hidden ${whole(row.hidden_at)}; restorable until ${whole(row.hidden_until)}. <a href=${href(["forgetting"], { tab: "hidden" })}>Hidden entries</a></p>`}
    <section class="whole" data-type=${entry.type} aria-label="What it says">${isEditing ? html`<${Editor} row=${row} session=${session} id=${id} open=${edit} saved=${again} />` : html`<${Said} entry=${entry} link=${entryHref(session, id)} />`}</section>
    <div class="columns"><section><h2>About it</h2><${Facts} row=${row} session=${session} /></section>
      <section><h2>How much is left</h2><${Fading} row=${row} /></section>
      <section><h2>What it hangs together with</h2><${Links} session=${session} id=${id} /></section>
      <section><h2>Revisions</h2><${Revisions} session=${session} id=${id} seq=${entry.seq} /></section></div>
    <section><h2>The line</h2><${RawLine} key=${entry.seq} session=${session} entry=${id} /></section>`;
}

function Facts({ row, session }) {
  const { entry } = row;
  const told = [["Id", entry.id], ["Session", session], ["Time", whole(entry.timestamp)], entry.at && ["Written", whole(entry.at)], ["By", `${speaker(entry)}, ${ORIGINS[row.provenance.channel] ?? row.provenance.channel}`],
    ["Scope", entry.scope ?? "session"], entry.role && ["Role", entry.role], entry.category && ["Category", entry.category], entry.run_id && ["Run", entry.run_id], entry.compartment && ["Compartment", entry.compartment],
    ["Tags", (entry.tags ?? []).join(", ") || "–"], ["Recalled", row.accesses ? `${row.accesses}×, last ${whole(row.last_access)}` : "never"], ["Place", `${count(row.place)}, seq ${count(entry.seq)}`],
    row.redactions.length && ["Redacted", row.redactions.join(", ")], entry.metadata && Object.keys(entry.metadata).length && ["Metadata", words(entry.metadata)], entry.context && Object.keys(entry.context).length && ["Context", words(entry.context)]].filter(Boolean);
  return facts([["Importance", html`<${Pips} value=${row.importance} /> ${score(row.importance)}`], ...told.map(([name, value]) => [name, bdi(value, 4000)])]);
}

function Fading({ row }) {
  const load = useGet("/stats/decay");
  return html`<${Loaded} load=${load} rows=${3}>${(found) => {
    const curve = found.items.find((one) => one.type === row.entry.type);
    return curve ? html`<${Curve} curve=${curve} from=${row.entry.timestamp} now=${row.decay} />` : html`<p>${score(row.decay)} today.</p>`;
  }}</>`;
}

function Links({ session, id }) {
  const depth = Number(route.value.query.depth ?? 1);
  const load = useGet(url`/sessions/${session}/entries/${id}/links`, { depth });
  const list = (label, items) => items.length > 0 && html`<h3>${label}</h3><ul class="plain links">${items.map((one) => html`<li key=${one.id}>${one.exists ? html`<a href=${entryHref(one.session_id ?? session, one.id)}><${Kind} type=${one.type} /> ${bdi(one.text, 140)}</a>` : html`<span class="dead mono">${bdi(one.id, 80)}</span> <small>is not here</small>`}</li>`)}</ul>`;
  return html`<${Loaded} load=${load} rows=${2}>${(found) => html`
    ${list("It refers to", found.outgoing)}${list("Referred to by", found.incoming)}${list("Nearby", found.near)}
    ${found.nodes.length > 0 && html`<h3>Nodes that rest on it</h3><ul class="plain links">${found.nodes.map((path) => html`<li key=${path}><a href=${nodeHref(found.user, path)}>${bdi(path)}</a></li>`)}</ul>`}
    ${!found.outgoing.length && !found.incoming.length && !found.near.length && !found.nodes.length && html`<p class="quiet">With nothing yet.</p>`}
    ${depth < 3 && (found.outgoing.length > 0 || found.incoming.length > 0) && html`<a class="small" href=${here({ depth: depth + 1 })}>One step further</a>`}`}</>`;
}

function Revisions({ session, id, seq }) {
  const load = useGet(url`/sessions/${session}/entries/${id}/revisions`, {}, ["hidden"], seq);
  return html`<${Loaded} load=${load} rows=${1}>${(found) => html`<ol class="plain links">${found.items.map((one, index) => html`<li key=${index}><small>${one.kind} · ${day(one.at)} · seq ${one.entry.seq}</small><br />${bdi(titleOf(one.entry) || one.entry.reason || "", 200)}</li>`)}</ol>`}</>`;
}

/** What is edited, objects as JSON; and over which revision. */
const edited = ({ content, seq }) => { const isText = typeof content === "string"; return { text: isText ? content : JSON.stringify(content, null, 2), mark: { seq, isText } }; };

/** A new revision of the one that was read, however long ago. */
function Editor({ row, session, id, open, saved }) {
  const name = `entry ${session}/${id}`, now = edited(row.entry), address = url`/sessions/${session}/entries/${id}`;
  const [text, type, { first, mark }] = useDraft(name, now.text, now.mark);
  const write = async (said, { seq, isText }) => {
    await call("PATCH", address, { body: { content: isText ? said : parsed(said), expected_seq: seq } });
    keepDraft(name, null);
    toast("Saved as a new revision.");
    open(false);
    saved();
  };
  const drop = () => { discard(name, () => { go(entryHref(session, id)); open(true); }); open(false); };
  const meet = async (_, said) => {
    const there = edited((await get(address)).entry);
    type(said);
    return { base: first, theirs: there.text, mark: there.mark };
  };
  const { isBusy, trouble, save, sides } = useMeeting(write, meet);
  if (sides) return html`${sides}<${Trouble} trouble=${trouble} />`;
  return html`<form class="stack" onSubmit=${sending(() => save(text, mark))}><textarea class=${mark.isText ? "" : "mono"} rows="8" aria-label="The content" value=${text} onInput=${typing(type)}></textarea>
    ${mark.seq !== now.mark.seq && html`<p class="warn small" role="status">It was revised meanwhile. When you save, both texts are shown side by side.</p>`}
    <${Trouble} trouble=${trouble} /><div class="row"><button type="button" onClick=${drop}>Cancel</button><button class="main" disabled=${isBusy}>Save a new revision</button></div></form>`;
}

function parsed(text) {
  try { return JSON.parse(text); } catch (error) { throw Object.assign(new Error("This is not JSON."), { advice: error.message }); }
}

const WIDE = 320, HIGH = 96;

/** @param {{curve: any, from: string, now: number}} props `curve` as `/stats/decay` tells it; `now` is what is left today */
function Curve({ curve, from, now }) {
  const start = new Date(from).getTime(), age = Math.max(0, (Date.now() - start) / 3_600_000);
  const last = curve.points.at(-1)?.[0] || 1;
  const at = ([hours, left]) => [(hours / last) * WIDE, HIGH - left * HIGH];
  const path = curve.points.map((point, index) => `${index ? "L" : "M"}${at(point).map((one) => one.toFixed(1)).join(" ")}`).join("");
  const when = (hours) => day(start + hours * 3_600_000);
  const sentence = curve.half_life_h ? `${score(now)} today, ${score(0.5)} on ${when(curve.half_life_h)}, floor ${score(curve.floor)}` : `${score(now)} today; it does not fade`;
  const shown = curve.points.filter((_, index) => index % 6 === 0);
  return html`<figure class="curve"><figcaption class="small">${sentence}</figcaption>
    <details class="small"><summary>As a table</summary><table><thead><tr><th scope="col">on</th><th scope="col" class="num">left</th></tr></thead><tbody>${shown.map(([hours, left]) => html`<tr key=${hours}><td>${when(hours)}</td><td class="num">${score(left)}</td></tr>`)}</tbody></table></details>
    <svg viewBox=${`-4 -4 ${WIDE + 8} ${HIGH + 8}`} aria-hidden="true"><path d=${`M0 ${HIGH}H${WIDE}M0 0V${HIGH}`} /><path class="left" d=${path} />
      ${age <= last && html`<circle cx=${(age / last) * WIDE} cy=${HIGH - now * HIGH} r="4" />`}</svg>
    <p class="small quiet">left, from 1 to 0, until ${when(last)}</p></figure>`;
}
