// Sessions that the worker gave up: what failed, how often, and another try.
import { html } from "../vendor/preact.js";
import { canWrite, post, url } from "../lib/api.js";
import { plural } from "../lib/format.js";
import { href } from "../lib/route.js";
import { bdi } from "./glyph.js";
import { attempt, toast } from "./toast.js";

export function Parked({ parked, again }) {
  const retry = (id) => attempt(async () => { await post(url`/worker/parked/${id}/retry`); toast("It is tried again."); again(); });
  return parked.length > 0 && html`<table class="cards"><caption class="small quiet">Parked: learning from these failed too often; nothing of them is lost</caption><tbody>${parked.map((one) => html`<tr key=${one.session_id}>
    <td><a href=${href(["sessions", one.session_id])}>${bdi(one.session_id, 60)}</a></td><td>${plural(one.attempts, "try", "tries")}</td><td><code>${bdi(one.error, 300)}</code></td>
    <td><button onClick=${() => retry(one.session_id)} disabled=${!canWrite()}>Retry</button></td></tr>`)}</tbody></table>`;
}
