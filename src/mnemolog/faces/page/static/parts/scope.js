// Whose memory is looked at: one agent, one user, or all. It is in the URL and on every request.
import { html } from "../vendor/preact.js";
import { call, me } from "../lib/api.js";
import { useLoad } from "../lib/load.js";
import { change, route } from "../lib/route.js";

export function Scope() {
  const limits = me.value?.scope ?? {};
  const load = useLoad((stop) => call("GET", "/sessions", { query: { limit: 1 }, signal: stop, isScoped: false }), ["scope"], ["session"]);
  const facets = load.value?.facets ?? {};
  return html`<${Choice} name="agent" label="Agent" limits=${limits.agents} known=${facets.agent ?? facets.agents} />
    <${Choice} name="user" label="User" limits=${limits.users} known=${facets.user ?? facets.users} />`;
}

function Choice({ name, label, limits, known }) {
  if (limits?.length === 1) return html`<span class="chip" title="This token sees nothing else.">${label} ${limits[0]}</span>`;
  const values = (limits?.length ? limits : names(known)).slice(0, 200);
  if (!values.length) return null;
  return html`<label class="small">${label} <select value=${route.value.query[name] ?? ""} onChange=${(event) => change({ [name]: event.currentTarget.value })}>
    <option value="">all ${name}s</option>${values.map((value) => html`<option key=${value} value=${value}>${value}</option>`)}</select></label>`;
}

const names = (known) => Array.isArray(known) ? known.map((one) => one.value ?? one.name ?? one[0] ?? one) : Object.keys(known ?? {});
