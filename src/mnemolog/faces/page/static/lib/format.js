// Numbers, sizes, times and values as people read them.
const number = new Intl.NumberFormat("en");
const short = new Intl.NumberFormat("en", { maximumSignificantDigits: 3 });
const dayFormat = new Intl.DateTimeFormat("en", { weekday: "short", day: "numeric", month: "short", year: "numeric" });
const dateFormat = new Intl.DateTimeFormat("en", { day: "numeric", month: "short" });
const monthFormat = new Intl.DateTimeFormat("en", { month: "short", year: "numeric" });
const timeFormat = new Intl.DateTimeFormat("en", { hour: "2-digit", minute: "2-digit", hour12: false });
const wholeFormat = new Intl.DateTimeFormat("en", { dateStyle: "medium", timeStyle: "medium", hour12: false });

/** What is typed, given to `take`. @param {(text: string) => void} take */
export const typing = (take) => (event) => take(event.currentTarget.value);

export const count = (value) => number.format(value ?? 0);
export const plural = (value, word, words = `${word}s`) => `${count(value)} ${value === 1 ? word : words}`;
export const entries = (value) => plural(value, "entry", "entries");
export const percent = (share) => `${short.format(Math.round((share ?? 0) * 1000) / 10)} %`;
export const score = (value) => (value ?? 0).toFixed(2);
export const day = (stamp) => dayFormat.format(new Date(stamp));
export const date = (stamp) => dateFormat.format(new Date(stamp));
export const month = (stamp) => monthFormat.format(new Date(stamp));
export const time = (stamp) => timeFormat.format(new Date(stamp));
export const whole = (stamp) => wholeFormat.format(new Date(stamp));

/** Bytes in the unit that fits. */
export function bytes(value) {
  const units = ["B", "KB", "MB", "GB", "TB"];
  let size = value ?? 0, at = 0;
  while (size >= 1024 && at < units.length - 1) { size /= 1024; at += 1; }
  return `${at ? short.format(size) : count(size)} ${units[at]}`;
}

const STEPS = /** @type {[number, number, string][]} */ ([[60, 1, "s"], [3600, 60, "min"], [86400, 3600, "h"], [86400 * 30, 86400, "d"]]);

/** How long ago, roughly; the exact time belongs into a title. */
export function ago(stamp, now = Date.now()) {
  const seconds = Math.max(0, Math.round((now - new Date(stamp).getTime()) / 1000));
  if (!Number.isFinite(seconds)) return "";
  for (const [below, unit, name] of STEPS) if (seconds < below) return `${Math.floor(seconds / unit)} ${name} ago`;
  return day(stamp);
}

// Characters that change what is read without being seen, and heaps of marks on one letter, which no
// browser lays out in time, are shown by name: the first of them, and how many there are.
const UNSEEN = /([\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]|\p{Surrogate})\1*|(?<=\p{Mark}{8})\p{Mark}+/gu;
const MOST_NAMED = 300;

/** A text as parts: plain strings, and `{hidden}` for what cannot be seen. @returns {(string | {hidden: string})[]} */
export function visible(text) {
  const parts = [];
  let from = 0;
  for (const { 0: run, index } of text.matchAll(UNSEEN)) {
    if (index > from) parts.push(text.slice(from, index));
    from = index + run.length;
    const code = /** @type {number} */ (run.codePointAt(0)), many = run.length / (code > 0xffff ? 2 : 1);
    parts.push({ hidden: `U+${code.toString(16).toUpperCase().padStart(4, "0")}${many > 1 ? ` ×${count(many)}` : ""}` });
    if (parts.length > MOST_NAMED) return [...parts, text.slice(from).replace(UNSEEN, "\ufffd")];
  }
  if (from < text.length) parts.push(text.slice(from));
  return parts;
}

/** Where an entry came from. */
export const ORIGINS = { user: "said by the user", agent: "said by the agent", tool: "came from a tool", recall: "came from recall", import: "imported" };

/** The field that says what a decision or a finding is about. */
export const TITLES = { decision: "decision", finding: "description" };

/** A value of any shape as words; objects never become anything but text. */
export function words(value) {
  if (value === null || value === undefined) return "";
  if (typeof value === "string") return value;
  if (typeof value === "number" || typeof value === "boolean") return String(value);
  if (Array.isArray(value)) return value.map(words).join(", ");
  const { option, name, reason, why, ...rest } = value;
  if ((option ?? name) !== undefined && Object.keys(rest).length === 0) return `${words(option ?? name)}${reason ?? why ? ` (${words(reason ?? why)})` : ""}`;
  return JSON.stringify(value);
}

/** The line that says what an entry is about. */
export function titleOf(entry) {
  const { content, type } = entry;
  if (typeof content === "string") return content.split("\n")[0].slice(0, 200);
  if (type === "preference" && content?.key !== undefined) return `${words(content.key)} = ${words(content.value)}`;
  return words(content?.[TITLES[type] ?? ""] ?? content?.text ?? content?.title ?? content).slice(0, 200);
}
