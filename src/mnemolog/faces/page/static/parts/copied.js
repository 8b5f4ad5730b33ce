// Something to be copied as it stands.
import { html, useState } from "../vendor/preact.js";

/** @param {{text: string, note?: string, label?: string}} props */
export function Copied({ text, note = "", label = "Copy" }) {
  const [said, say] = useState("");
  const copy = async () => {
    try { await navigator.clipboard.writeText(text); say("Copied"); } catch { say("Select it, then copy"); }
    setTimeout(() => say(""), 2000);
  };
  return html`<div class="copied"><pre tabindex="0" aria-label=${note || "text"}>${text}</pre><div class="row small quiet"><button onClick=${copy}>${said || label}</button>${note}</div></div>`;
}
