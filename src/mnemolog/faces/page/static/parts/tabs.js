// Tabs that are addresses.
import { html } from "../vendor/preact.js";
import { href, route } from "../lib/route.js";

/** The tab that is open; the first if none is named. @param {[string, string][]} tabs */
export const openTab = (tabs) => tabs.find(([name]) => name === route.value.query.tab)?.[0] ?? tabs[0][0];

/** @param {{tabs: [string, string][], label: string}} props name and word of each */
export const Tabs = ({ tabs, label }) => html`<nav class="tabs" aria-label=${label}>${tabs.map(([name, word]) => html`
  <a key=${name} href=${href(route.value.path, { tab: name === tabs[0][0] ? "" : name })} aria-current=${openTab(tabs) === name ? "page" : undefined}>${word}</a>`)}</nav>`;
