// Whose memory is looked at: one agent, one user, or all. It is in the URL and on every request.
import { html } from "../vendor/preact.js";
import { call, me } from "../lib/api.js";
import { useLoad } from "../lib/load.js";
import { route } from "../lib/route.js";
import { Choice } from "./choices.js";

export function Scope() {
  const limits = me.value?.scope ?? {};
  const load = useLoad((stop) => call("GET", "/sessions", { query: { limit: 1 }, signal: stop, isScoped: false }), ["scope"], ["session"]);
  const facets = load.value?.facets ?? {};
  return html`<${One} name="agent" label="Agent" limits=${limits.agents} known=${facets.agents} />
    <${One} name="user" label="User" limits=${limits.users} known=${facets.users} />`;
}

function One({ name, label, limits, known }) {
  if (limits?.length === 1) return html`<span class="chip" title="This token sees nothing else.">${label} ${limits[0]}</span>`;
  const values = (limits?.length ? limits : Object.keys(known ?? {})).slice(0, 200);
  if (!values.length) return null;
  return html`<${Choice} name=${name} label=${label} options=${[["", `all ${name}s`], ...values.map((value) => [value, value])]} />`;
}
