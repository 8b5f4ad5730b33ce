// What was typed and is not written yet: kept on this device until it is, through reloads and while the server is away.
import { useState } from "../vendor/preact.js";
import { undoable } from "../parts/toast.js";

const key = (name) => `mnemolog.draft.${name}`;

/** @param {string} name @returns {any} */
export function draftOf(name) {
  try { return JSON.parse(localStorage.getItem(key(name)) ?? "null"); } catch { return null; }
}

/** Keep a draft, or forget it where there is none. @param {string} name @param {object | null} draft */
export function keepDraft(name, draft) {
  try {
    if (draft) localStorage.setItem(key(name), JSON.stringify({ ...draft, at: Date.now() }));
    else localStorage.removeItem(key(name));
  } catch { /* a full store keeps no drafts; the text stays in the page */ }
}

/** Throw a draft away; it can be taken back. @param {string} name @param {() => void} again shows it once more */
export function discard(name, again) {
  const draft = draftOf(name);
  keepDraft(name, null);
  const back = () => {
    if (draftOf(name)) throw new Error("Another draft was begun since.");
    keepDraft(name, draft);
    again();
  };
  if (draft) undoable({ label: "The draft is discarded.", back });
}

/** A text that is a draft while it differs from what it began with; that, and the `mark` of it, stay as they were.
 * @param {string} name @param {string} [first] @param {any} [mark]
 * @returns {[text: string, type: (text: string) => void, begun: {first: string, mark: any}]} */
export function useDraft(name, first = "", mark) {
  const [draft, set] = useState(() => ({ first, mark, text: first, ...draftOf(name) }));
  const type = (text) => {
    const next = { first: draft.first, mark: draft.mark, text };
    set(next);
    keepDraft(name, text === draft.first ? null : next);
  };
  return [draft.text, type, draft];
}
