// Undo is the server's: what was hidden is asked back by the id that the receipt gave.
import { post, url } from "./api.js";
import { toast } from "../parts/toast.js";

const MOST = 20;
const KEY = "mnemolog.undo";
/** The last ones of this tab; they outlive a reload. @type {{id: string, label: string, after?: () => void}[]} */
const done = kept();

function kept() {
  try { return JSON.parse(sessionStorage.getItem(KEY) ?? "[]"); } catch { return []; }
}

const keep = () => sessionStorage.setItem(KEY, JSON.stringify(done.map(({ id, label }) => ({ id, label }))));

/** Remember something that can be taken back, and say so. @param {string} id @param {string} label @param {() => void} after */
export function undoable(id, label, after = () => {}) {
  done.push({ id, label, after });
  done.splice(0, Math.max(0, done.length - MOST));
  keep();
  toast(label, { action: "Undo", run: () => undo(id) });
}

/** Take back the last one, or the one named. */
export async function undo(id) {
  const at = id ? done.findIndex((one) => one.id === id) : done.length - 1;
  if (at < 0) return toast("There is nothing to take back in this tab. Hidden entries are under Forgetting.");
  const [one] = done.splice(at, 1);
  try {
    await post(url`/undo/${one.id}`);
    toast(`Taken back: ${one.label}`);
    one.after?.();
  } catch (trouble) {
    if (trouble.status !== 404) done.push(one);
    toast(`Could not take it back: ${trouble.message} ${trouble.advice ?? ""}`);
  }
  keep();
}
