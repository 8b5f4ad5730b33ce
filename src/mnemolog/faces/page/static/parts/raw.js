// The exact line of the file, and whether its checksum holds.
import { html } from "../vendor/preact.js";
import { url } from "../lib/api.js";
import { bytes, count } from "../lib/format.js";
import { useGet } from "../lib/load.js";
import { seen } from "./glyph.js";
import { Loaded } from "./trouble.js";

const MOST = 64 * 1024;

export function RawLine({ session, entry }) {
  const load = useGet(url`/sessions/${session}/entries/${entry}/raw`);
  return html`<div class="raw"><${Loaded} load=${load} rows=${2}>${(found) => html`
    <p class="small"><strong class=${found.sum_ok ? "ok" : "danger"}>${found.sum_ok ? "✓ The checksum holds" : "✕ The checksum does not hold"}</strong>
      <span class="quiet"> · <code>${found.segment}</code> at byte ${count(found.offset)}, ${bytes(found.bytes)}${found.encoding === "utf-8" ? "" : `, shown as ${found.encoding}`}</span></p>
    <pre tabindex="0" aria-label="The line exactly as its file holds it"><${Exact} text=${found.line.replace(/\n$/, "")} /></pre>`}</></div>`;
}

/** Exactly what stands there; only characters that cannot be seen are shown by name. */
const Exact = ({ text }) => html`<bdi dir="ltr">${seen(text.slice(0, MOST))}${text.length > MOST ? html`<span class="chip">… ${bytes(text.length - MOST)} more</span>` : null}</bdi>`;
