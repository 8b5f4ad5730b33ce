// What was typed and is not written yet: kept on this device until it is, through reloads and while the server is away.
import { useState } from "../vendor/preact.js";

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

/** A text that is a draft while it differs from what it began with.
 * @param {string} name @param {string} [first] @returns {[string, (text: string) => void]} */
export function useDraft(name, first = "") {
  const [text, set] = useState(() => draftOf(name)?.text ?? first);
  return [text, (next) => { set(next); keepDraft(name, next === first ? null : { text: next }); }];
}
