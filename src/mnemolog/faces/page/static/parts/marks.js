// Small marks beside an entry: how important it is, how much of it is left, how often it was recalled.
import { html } from "../vendor/preact.js";
import { score } from "../lib/format.js";

/** Five pips. @param {{value: number}} props */
export function Pips({ value }) {
  const on = Math.max(0, Math.min(5, Math.round((value ?? 0) * 5)));
  return html`<span class="pips" role="img" aria-label=${`importance ${score(value)}`} title=${`importance ${score(value)}`}>${"●".repeat(on)}${"○".repeat(5 - on)}</span>`;
}

/** A pie that empties. @param {{left: number}} props */
export function Pie({ left }) {
  const share = Math.max(0, Math.min(1, left ?? 1));
  const turn = share * 2 * Math.PI, x = 7 + 6 * Math.sin(turn), y = 7 - 6 * Math.cos(turn);
  const words = `${score(share)} of it is left today`;
  return html`<svg class="pie" viewBox="0 0 14 14" role="img" aria-label=${words}><title>${words}</title><circle cx="7" cy="7" r="6" />
    ${share >= 0.999 ? html`<circle cx="7" cy="7" r="6" />` : html`<path d=${`M7 7V1A6 6 0 ${share > 0.5 ? 1 : 0} 1 ${x.toFixed(2)} ${y.toFixed(2)}z`} />`}</svg>`;
}
