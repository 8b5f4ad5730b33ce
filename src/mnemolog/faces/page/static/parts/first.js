// An empty memory: what to do next. The view changes by itself when something arrives.
import { html, useLayoutEffect, useRef, useState } from "../vendor/preact.js";
import { canWrite, me, post, url } from "../lib/api.js";
import { keepDraft, useDraft } from "../lib/draft.js";
import { typing } from "../lib/format.js";
import { sending, useTask } from "../lib/load.js";
import { go, href } from "../lib/route.js";
import { toast } from "./toast.js";
import { Trouble } from "./trouble.js";

const SNIPPETS = () => {
  const mcp = `${location.origin}/mcp`;
  return {
    "Claude Code": `claude mcp add mnemolog -- mnemolog mcp --agent claude-code`,
    Cursor: `{"mcpServers": {"mnemolog": {"command": "mnemolog", "args": ["mcp", "--agent", "cursor"]}}}`,
    "VS Code": `{"servers": {"mnemolog": {"type": "http", "url": "${mcp}", "headers": {"Authorization": "Bearer \${input:mnemolog-token}"}}}}`,
    Python: `from mnemolog import Memory\n\nwith Memory.open(".mnemolog") as memory:\n    s = memory.create_session(user_id="u1", agent_ids=["architect"])\n    memory.add_decision(s.id, made_by="architect", decision="Use PostgreSQL", rationale="ACID")`,
    Shell: `mnemolog add "the first thing to remember"`,
  };
};
const WHERE = { Cursor: "in .cursor/mcp.json", "VS Code": "in .vscode/mcp.json", Python: "", "Claude Code": "in a shell", Shell: "in a shell" };

export function FirstRun() {
  return html`<div class="head"><h1>Nothing remembered yet</h1></div>
    <p class="quiet">Root <code>${me.value?.root}</code>. Waiting for the first entry… this view changes by itself.</p>
    <ol class="steps">
      <li><h2>Try it here</h2>${canWrite() ? html`<${Write} />` : html`<p class="quiet">This token may only read.</p>`}</li>
      <li><h2>Connect an agent</h2><${Connect} /></li>
      ${canWrite() && html`<li><h2>Load a story</h2><${Fill} /></li>`}
    </ol>`;
}

function Write() {
  const [draft, type] = useDraft("first");
  const [isOpen, open] = useState(draft && "kept");
  const { isBusy, trouble, run } = useTask();
  const box = useRef();
  useLayoutEffect(() => { if (isOpen === "now") box.current.focus(); }, [isOpen]);
  const write = sending(() => run(async () => {
    const text = draft.trim();
    if (!text) return;
    const session = await post("/sessions", { agent_ids: ["page"] });
    const receipt = await post(url`/sessions/${session.id}/entries`, { type: "note", agent_id: "page", content: text });
    keepDraft("first", null);
    toast("Written. Search finds it, and it is open in its session.", { action: "Open", run: () => go(href(["sessions", session.id], { at: receipt.id })) });
    go(href(["search"], { q: text.slice(0, 120) }));
  }));
  if (!isOpen) return html`<button class="main" onClick=${() => open("now")}>Write a first entry…</button>`;
  return html`<form class="stack" onSubmit=${write}><textarea ref=${box} rows="3" value=${draft} onInput=${typing(type)} aria-label="The first entry" placeholder="Something worth remembering" required></textarea>
    <div class="row"><button class="main" disabled=${isBusy}>${isBusy ? "Writing…" : "Write it"}</button></div><${Trouble} trouble=${trouble} /></form>`;
}

function Connect() {
  const all = SNIPPETS();
  const [name, choose] = useState(Object.keys(all)[0]);
  return html`<div class="row" role="group" aria-label="Kind of agent">${Object.keys(all).map((one) => html`<button key=${one} aria-pressed=${one === name} onClick=${() => choose(one)}>${one}</button>`)}</div>
    <${Copied} text=${all[name]} note=${WHERE[name]} />
    ${name !== "VS Code" && html`<p class="small quiet">It takes the memory that is nearest to where it starts: start it beside <code>${me.value?.root}</code>, or name this one with <code>--root</code>.</p>`}`;
}

function Fill() {
  const { isBusy, trouble, run } = useTask();
  const fill = () => run(async () => { await fillDemo(); toast("Two sessions of a demo week are there. The list of sessions can remove them."); });
  return html`<button disabled=${isBusy} onClick=${fill}>${isBusy ? "Writing…" : "Fill with the demo week"}</button>
    <p class="small quiet">Two sessions, fourteen entries; removed from the list of sessions.</p><${Trouble} trouble=${trouble} />`;
}

/** Something to be copied as it stands. */
function Copied({ text, note = "", label = "Copy" }) {
  const [said, say] = useState("");
  const copy = async () => {
    try { await navigator.clipboard.writeText(text); say("Copied"); } catch { say("Select it, then copy"); }
    setTimeout(() => say(""), 2000);
  };
  return html`<div class="copied"><pre tabindex="0" aria-label=${note || "text"}>${text}</pre><div class="row small quiet"><button onClick=${copy}>${said || label}</button>${note}</div></div>`;
}

const DAY = 86_400_000;
const DEMO = ["demo-week-payments", "demo-week-incident"];

/** [days ago, hour, minute, entry] */
const PAYMENTS = [
  [6, 9, 0, { role: "user", content: "We are rebuilding the payment system. No order may ever be half written." }],
  [6, 9, 1, { role: "assistant", agent_id: "architect", content: "Then every step of an order belongs into **one transaction**. I would compare PostgreSQL, MySQL and MongoDB for that." }],
  [6, 9, 14, { type: "decision", id: "demo-database", agent_id: "architect", tags: ["database"], content: { decision: "Use PostgreSQL", rationale: "ACID, row locks, and the team knows it", alternatives_considered: ["MongoDB", "MySQL"], impact: "high", approved_by: ["Ann"] } }],
  [5, 10, 5, { role: "user", content: "Which pool of connections do we take for it?" }],
  [5, 10, 7, { type: "decision", agent_id: "architect", tags: ["database", "performance"], references: ["demo-database"], content: { decision: "HikariCP with 20 connections", rationale: "Two per core are enough; more only wait for locks", impact: "medium" } }],
  [4, 15, 30, { type: "preference", agent_id: "architect", scope: "session", content: { key: "language", value: "British English", confidence: 0.9 } }],
  [3, 11, 20, { type: "note", agent_id: "architect", tags: ["people"], content: "Ann leads the payment system; Ben owns the ledger." }],
  [2, 8, 55, { type: "event", agent_id: "architect", tags: ["release"], content: "Version 0.4 went to the test cluster." }],
  [1, 16, 40, { role: "user", content: "Remind me: why not MongoDB?" }],
  [1, 16, 41, { role: "assistant", agent_id: "architect", references: ["demo-database"], content: "Because an order spans several documents, and we wanted one transaction for it." }],
];
const INCIDENT = [
  [2, 21, 3, { type: "event", agent_id: "analyst", tags: ["incident"], content: "Alert: payment latency above 2 s." }],
  [2, 21, 20, { type: "finding", id: "demo-slow", agent_id: "analyst", tags: ["performance", "database"], content: { severity: "high", description: "The orders table has no index on customer_id; each lookup reads all rows", evidence: "EXPLAIN ANALYZE: sequential scan, 1.9 s", recommendation: "Add an index concurrently", status: "open" } }],
  [2, 21, 44, { type: "decision", agent_id: "analyst", tags: ["database"], references: ["demo-slow"], content: { decision: "Add the index tonight, concurrently", rationale: "No lock on writes, back within minutes", impact: "high" } }],
  [1, 9, 10, { type: "finding", agent_id: "analyst", tags: ["operations"], content: { severity: "medium", description: "Nobody has ever restored the nightly backup", recommendation: "Restore it into a scratch database each week", status: "open" } }],
];

const dated = (week) => week.map(([days, hour, minute, entry]) => {
  const at = new Date(Date.now() - days * DAY);
  at.setHours(hour, minute, 0, 0);
  return { type: "conversation", ...entry, timestamp: at.toISOString() };
});

/** Write the week; two sessions. */
async function fillDemo() {
  await post("/sessions", { session_id: DEMO[0], user_id: "demo", agent_ids: ["architect"], metadata: { project_name: "payments" } });
  await post(url`/sessions/${DEMO[0]}/batch`, { entries: dated(PAYMENTS) });
  await post("/sessions", { session_id: DEMO[1], user_id: "demo", agent_ids: ["analyst"], metadata: { project_name: "payments" } });
  await post(url`/sessions/${DEMO[1]}/batch`, { entries: dated(INCIDENT) });
}
