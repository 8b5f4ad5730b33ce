// An empty memory: what to do next. The view changes by itself when something arrives.
import { html, useLayoutEffect, useRef, useState } from "../vendor/preact.js";
import { canWrite, me, post, url } from "../lib/api.js";
import { keepDraft, useDraft } from "../lib/draft.js";
import { typing } from "../lib/format.js";
import { sending, useTask } from "../lib/load.js";
import { go, href } from "../lib/route.js";
import { copy, toast } from "./toast.js";
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

/** Whoever was writing when something came goes on with it. @param {{isEmpty: boolean}} props */
export function FirstRun({ isEmpty }) {
  return html`${isEmpty && html`<div class="head"><h1>Nothing remembered yet</h1></div>
    <p class="quiet">Root <code>${me.value?.root}</code>. Waiting for the first entry… this view changes by itself.</p>`}
    <ol class=${isEmpty ? "steps" : "plain"}>
      <li>${isEmpty && html`<h2>Try it here</h2>`}${canWrite() ? html`<${Write} />` : html`<p class="quiet">This token may only read.</p>`}</li>
      ${isEmpty && html`<li><h2>Connect an agent</h2><${Connect} /></li>${canWrite() && html`<li><h2>Load a story</h2><${Fill} /></li>`}`}
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
    <div class="copied"><pre tabindex="0" aria-label=${WHERE[name] || "text"}>${all[name]}</pre><div class="row small quiet"><button onClick=${() => copy(all[name])}>Copy</button>${WHERE[name]}</div></div>
    ${name !== "VS Code" && html`<p class="small quiet">It takes the memory that is nearest to where it starts: start it beside <code>${me.value?.root}</code>, or name this one with <code>--root</code>.</p>`}`;
}

function Fill() {
  const { isBusy, trouble, run } = useTask();
  const fill = () => run(async () => { await fillDemo(); toast("Two sessions of a demo week are there. The list of sessions can remove them."); });
  return html`<button disabled=${isBusy} onClick=${fill}>${isBusy ? "Writing…" : "Fill with the demo week"}</button>
    <p class="small quiet">Two sessions, fourteen entries; removed from the list of sessions.</p><${Trouble} trouble=${trouble} />`;
}

/** Write the week, two sessions: of each entry how many days ago, at which hour and minute, and what it is. */
async function fillDemo() {
  const week = await (await fetch(new URL("../demo-week.json", import.meta.url))).json();
  for (const { session_id, agent_ids, entries } of week) {
    await post("/sessions", { session_id, user_id: "demo", agent_ids, metadata: { project_name: "payments" } });
    await post(url`/sessions/${session_id}/batch`, { entries: entries.map(dated) });
  }
}

function dated([days, hour, minute, entry]) {
  const at = new Date();
  at.setDate(at.getDate() - days);
  at.setHours(hour, minute, 0, 0);
  return { type: "conversation", ...entry, timestamp: at.toISOString() };
}
