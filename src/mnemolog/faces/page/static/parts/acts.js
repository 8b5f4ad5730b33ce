// What can be done to sessions; each shows the server's plan first.
import { html, signal } from "../vendor/preact.js";
import { post } from "../lib/api.js";
import { bytes, entries, plural } from "../lib/format.js";
import { carryOut, finished } from "../lib/plans.js";
import { undoable } from "../lib/undo.js";
import { confirm } from "./dialog.js";
import { titleOf } from "./entry.js";
import { proven } from "./job.js";
import { attempt, toast } from "./toast.js";

const states = (items, chosen) => items.filter((one) => chosen.has(one.id)).map((one) => one.state);

/** @type {{word: string, isFinal?: boolean, fits: (items: any[], chosen: Set<string>) => boolean, run: (ids: string[], after: () => void) => Promise<any>}[]} */
export const VERBS = [
  { word: "Clear", fits: () => true, run: clear },
  { word: "Archive", fits: (items, chosen) => states(items, chosen).some((state) => state !== "archived"), run: (ids, after) => simple("archive_session", "Archive", "Archived", ids, after) },
  { word: "Restore", fits: (items, chosen) => states(items, chosen).some((state) => state === "archived"), run: (ids, after) => simple("restore_session", "Restore", "Restored", ids, after) },
  { word: "Export", fits: () => true, run: exported },
  { word: "Delete", isFinal: true, fits: () => true, run: remove },
];

/** Hide an entry; answers whether it was. @param {string} session @param {any} entry @param {() => void} after */
export const hide = (session, entry, after) => attempt(async () => {
  const plan = await post("/plans", { action: "delete", selector: { session_id: session, ids: [entry.id] }, run: true });
  undoable(plan.outcome.undo_id, `Hidden: ${titleOf(entry).slice(0, 60)}`, after);
  return true;
}, "Not hidden: ");

/** Do it to those of the sessions that it fits; trouble is told, never swallowed. */
export async function act(verb, ids, items, after) {
  const state = new Map(items.map((one) => [one.id, one.state]));
  const fitting = verb.word === "Archive" ? ids.filter((id) => state.get(id) !== "archived") : verb.word === "Restore" ? ids.filter((id) => state.get(id) === "archived") : ids;
  await attempt(() => verb.run(fitting, after), `${verb.word} failed: `);
}

const what = (ids) => (ids.length === 1 ? ids[0] : plural(ids.length, "session"));

async function clear(ids, after) {
  const selector = { session_ids: ids };
  const done = await carryOut({ action: "clear_session", selector, title: `Clear ${what(ids)}`, verb: (counts) => `Hide ${entries(counts.entries)}`, other: "Erase for ever instead…" });
  if (done?.other) {
    const gone = await carryOut({ action: "clear_session", selector, options: { mode: "erase" }, title: `Clear ${what(ids)} for ever`, verb: (counts) => `Erase ${entries(counts.entries)}`, isFinal: true });
    if (gone) { toast(proven(gone.receipt)); after(); }
  } else if (done) {
    const label = `${entries(done.receipt?.hidden ?? 0)} hidden`;
    if (done.undo_id) undoable(done.undo_id, label, after); else toast(label);
    after();
  }
}

async function simple(action, word, past, ids, after) {
  const done = await carryOut({ action, selector: { session_ids: ids }, title: `${word} ${what(ids)}`, verb: (counts) => `${word} ${plural(counts.sessions, "session")}` });
  if (!done) return;
  toast(`${past} ${what(ids)}.`);
  after();
}

async function remove(ids, after) {
  const done = await carryOut({ action: "delete_session", selector: { session_ids: ids }, title: `Delete ${what(ids)}`, verb: (counts) => `Delete ${plural(counts.sessions, "session")}`, isFinal: true });
  if (!done) return;
  toast(proven(done.receipt));
  after();
}

const LAYOUTS = [["json", "JSON"], ["jsonl", "JSON lines"], ["markdown", "Markdown"]];

async function exported(ids) {
  const layout = signal("json");
  const Body = () => html`<label>Layout <select value=${layout.value} onChange=${(event) => { layout.value = event.currentTarget.value; }}>${LAYOUTS.map(([value, word]) => html`<option key=${value} value=${value}>${word}</option>`)}</select></label>`;
  const made = await confirm({ title: `Export ${what(ids)}`, sentence: `${plural(ids.length, "file")}, one for each session, handed to your browser. Nothing changes here.`, verb: `Export ${plural(ids.length, "session")}`, body: html`<${Body} />`, run: () => exports(ids, layout.value) });
  if (made) toast(`Exported ${plural(made.length, "session")}, ${bytes(made.reduce((all, one) => all + one.bytes, 0))}.`);
}

async function exports(ids, layout) {
  const made = [];
  for (const id of ids) {
    const job = await post("/exports", { layout, session_id: id });
    const result = await finished(job.id);
    made.push(result);
    const link = document.createElement("a");
    link.href = `/api/v1/downloads/${encodeURIComponent(result.ticket)}`;
    link.setAttribute("download", result.name);
    document.body.append(link);
    link.click();
    link.remove();
  }
  return made;
}
