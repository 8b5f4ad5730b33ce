// How much of an entry is left as it grows older: a small curve, and the same as a table.
import { html } from "../vendor/preact.js";
import { day, score } from "../lib/format.js";

const WIDE = 320, HIGH = 96;

/** @param {{curve: any, from: string, now: number}} props `curve` as `/stats/decay` tells it; `now` is what is left today */
export function Curve({ curve, from, now }) {
  const start = new Date(from).getTime(), age = Math.max(0, (Date.now() - start) / 3_600_000);
  const last = curve.points.at(-1)?.[0] || 1;
  const at = ([hours, left]) => [(hours / last) * WIDE, HIGH - left * HIGH];
  const path = curve.points.map((point, index) => `${index ? "L" : "M"}${at(point).map((one) => one.toFixed(1)).join(" ")}`).join("");
  const when = (hours) => day(start + hours * 3_600_000);
  const sentence = curve.half_life_h ? `${score(now)} today, ${score(0.5)} on ${when(curve.half_life_h)}, floor ${score(curve.floor)}` : `${score(now)} today; it does not fade`;
  const shown = curve.points.filter((_, index) => index % 6 === 0);
  return html`<figure class="curve"><figcaption class="small">${sentence}</figcaption>
    <details class="small"><summary>As a table</summary><table><thead><tr><th scope="col">on</th><th scope="col" class="num">left</th></tr></thead><tbody>${shown.map(([hours, left]) => html`<tr key=${hours}><td>${when(hours)}</td><td class="num">${score(left)}</td></tr>`)}</tbody></table></details>
    <svg viewBox=${`-2 -2 ${WIDE + 4} ${HIGH + 4}`} aria-hidden="true"><path d=${`M0 ${HIGH}H${WIDE}M0 0V${HIGH}`} /><path class="left" d=${path} />
      ${age <= last && html`<circle cx=${(age / last) * WIDE} cy=${HIGH - now * HIGH} r="4" />`}</svg>
    <p class="small quiet">left, from 1 to 0, until ${when(last)}</p></figure>`;
}
