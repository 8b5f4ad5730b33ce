// What is chosen, and kept in the URL: tabs, facets with counts as links, choices, a text that waits a moment.
import { html, useEffect, useRef, useState } from "../vendor/preact.js";
import { isOwner } from "../lib/api.js";
import { count, typing } from "../lib/format.js";
import { change, here, href, route } from "../lib/route.js";
import { bdi } from "./glyph.js";

/** @typedef {[name: string, word: string, isOwners?: boolean, Part?: any][]} Kinds name and word of each, whether only the owner may see it, what it shows */
/** @param {Kinds} tabs */
const offered = (tabs) => tabs.filter(([, , isOwners]) => !isOwners || isOwner());

/** The tab that is open; the first if none is named. @param {Kinds} tabs @param {string} [name] of it in the URL */
export const openTab = (tabs, name = "tab") => (offered(tabs).find(([one]) => one === route.value.query[name]) ?? offered(tabs)[0])[0];

/** @param {{tabs: Kinds, label: string, name?: string, to?: (tab: string) => string, counts?: Record<string, number>}} props */
export const Tabs = ({ tabs, label, name = "tab", to = (tab) => href(route.value.path, { [name]: tab }), counts = {} }) => html`<nav class="tabs" aria-label=${label}>${offered(tabs).map(([one, word]) => html`
  <a key=${one} href=${to(one)} aria-current=${openTab(tabs, name) === one ? "page" : undefined}>${word}${counts[one] > 0 && html` <span class="quiet">${count(counts[one])}</span>`}</a>`)}</nav>`;

/** A view that is made of tabs. @param {string} title @param {Kinds} tabs */
export const tabbed = (title, tabs) => Object.assign(() => html`<div class="head"><h1>${title}</h1></div><${Tabs} tabs=${tabs} label=${title} /><${tabs.find(([name]) => name === openTab(tabs))?.[3]} />`, { title });

/** One of several addresses, as a chip. @param {any} words @param {string} address @param {boolean} [isOn] @param {object} [more] */
export const choice = (words, address, isOn = false, more = {}) => html`<a class="chip choice" href=${address} aria-current=${isOn ? "true" : undefined} ...${more}>${words}</a>`;

const isWide = matchMedia("(min-width: 801px)").matches;

/** What can be filtered by; folded where there is little room. */
export const Filters = ({ children }) => html`<details class="filters" open=${isWide}><summary>Filters</summary><div class="facets">${children}</div></details>`;

/** Values of a query parameter that holds several, by commas. */
export const listed = (name) => (route.value.query[name] ?? "").split(",").filter(Boolean);

/** Facets as links. Several may be on where `isMany`.
 * @param {{name: string, label: string, counts: Record<string, number>, isMany?: boolean, glyph?: (value: string) => any, most?: number}} props */
export function Facet({ name, label, counts, isMany = false, glyph, most = 8 }) {
  const [isOpen, open] = useState(false);
  const on = isMany ? listed(name) : [route.value.query[name]].filter(Boolean);
  const known = Object.entries(counts ?? {}).sort((one, other) => other[1] - one[1]);
  for (const value of on) if (!known.some(([one]) => one === value)) known.unshift([value, 0]);
  if (!known.length) return null;
  const link = (value) => {
    const next = on.includes(value) ? on.filter((one) => one !== value) : isMany ? [...on, value] : [value];
    return here({ [name]: next.join(",") });
  };
  const shown = isOpen ? known.slice(0, 60) : known.slice(0, most);
  return html`<div class="facet" role="group" aria-label=${label}><small>${label}</small>
    ${shown.map(([value, many]) => choice(html`${glyph?.(value)}${bdi(value, 40)} <span class="quiet">${count(many)}</span>`, link(value), on.includes(value), { key: value, title: value }))}
    ${known.length > most && html`<button class="bare small" onClick=${() => open(!isOpen)}>${isOpen ? "fewer" : `${count(known.length - most)} more`}</button>`}</div>`;
}

/** One of several. @param {{label: string, options: [string | number, string][], value?: string, choose: (value: string) => void}} props */
export const Select = ({ label, options, value, choose }) => html`<label class="small">${label} <select value=${value} onChange=${typing(choose)}>
  ${options.map(([one, word]) => html`<option key=${one} value=${one}>${word}</option>`)}</select></label>`;

/** One of several, kept in the URL. */
export const Choice = ({ name, label, options }) => html`<${Select} label=${label} options=${options} value=${route.value.query[name] ?? ""} choose=${(value) => change({ [name]: value })} />`;

/** A text in the URL, changed a moment after the last letter. */
export function Words({ name, label, placeholder }) {
  const [text, type] = useState(route.value.query[name] ?? "");
  const timer = useRef(0);
  useEffect(() => { type(route.value.query[name] ?? ""); }, [route.value.query[name]]);
  const typed = (event) => {
    const value = event.currentTarget.value;
    type(value);
    clearTimeout(timer.current);
    timer.current = setTimeout(() => change({ [name]: value }, { replace: true }), 200);
  };
  return html`<input type="search" class="words" value=${text} onInput=${typed} aria-label=${label} placeholder=${placeholder ?? label} />`;
}
