// What a model would be told for a question: exactly the block that the library gives, and what each part costs.
import { html, useEffect, useState } from "../vendor/preact.js";
import { post } from "../lib/api.js";
import { count, plural } from "../lib/format.js";
import { useLoad } from "../lib/load.js";
import { nodeHref } from "../lib/nodes.js";
import { change, entryHref, here, href, route } from "../lib/route.js";
import { Select } from "./choices.js";
import { bdi, seen } from "./glyph.js";
import { Loaded } from "./trouble.js";

const BUDGETS = [500, 1000, 2000, 4000, 8000];

/** How an item begins, as the block says it. */
function begun(text, id) {
  const mark = [`- [${id}]`, `- [${JSON.stringify(id)}]`].find((one) => text.includes(one));
  const lines = mark ? text.slice(text.indexOf(mark) + mark.length).split("\n", 6).slice(1) : [];
  return lines.filter((line) => line.startsWith("  | ")).map((line) => line.slice(4)).find((line) => line.length > 8) ?? lines[0]?.slice(4);
}

export function ContextBlock({ q }) {
  const { agent, session, budget = "2000" } = route.value.query;
  const [text, wait] = useState(q);
  useEffect(() => { const timer = setTimeout(() => wait(q), 200); return () => clearTimeout(timer); }, [q]);
  const load = useLoad((stop) => post("/context", { text, session_id: session || null, budget_tokens: Number(budget), quiet: true }, { signal: stop }), ["context", text, session, budget]);
  return html`<div class="stack"><div class="row"><${Select} label="Budget" value=${budget} options=${BUDGETS.map((one) => [one, `${count(one)} tokens`])} choose=${(one) => change({ budget: one })} />
      ${session && html`<span class="chip">session ${bdi(session)} <a href=${here({ session: "" })}>all</a></span>`}${agent && html`<span class="chip">as ${bdi(agent)}</span>`}</div>
    <${Loaded} load=${load}>${(found) => html`
      <p><strong data-tokens>${plural(found.tokens, "token")}</strong> <span class="quiet">of ${count(Number(budget))} · ${plural(found.items.length, "item")}${found.omitted ? ` · ${count(found.omitted)} did not fit` : ""}</span></p>
      <div class="columns"><section><h2>The block, exactly</h2><pre class="card exact" tabindex="0" aria-label="The block, exactly">${seen(found.text)}</pre></section>
      ${found.items.length > 0 && html`<section><h2>What it is made of</h2><table><thead><tr><th scope="col">item</th><th scope="col" class="num">tokens</th></tr></thead><tbody>${found.items.map((one) => {
        const words = bdi(begun(found.text, one.id) || one.id, 90), leads = one.kind === "entry" ? entryHref : nodeHref;
        return html`<tr key=${one.id} title=${one.id}><td>${one.home ? html`<a href=${leads(one.home, one.id)}>${words}</a>` : words}</td><td class="num">${count(one.tokens)}</td></tr>`;
      })}</tbody></table></section>`}</div>`}</></div>`;
}
