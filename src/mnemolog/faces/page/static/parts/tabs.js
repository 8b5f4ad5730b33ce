// Tabs that are addresses.
import { html } from "../vendor/preact.js";
import { isOwner } from "../lib/api.js";
import { href, route } from "../lib/route.js";

/** @typedef {[name: string, word: string, isOwners?: boolean][]} Kinds name and word of each, and whether only the owner may see it */
/** @param {Kinds} tabs */
const offered = (tabs) => tabs.filter(([, , isOwners]) => !isOwners || isOwner());

/** The tab that is open; the first if none is named. @param {Kinds} tabs */
export const openTab = (tabs) => (offered(tabs).find(([name]) => name === route.value.query.tab) ?? offered(tabs)[0])[0];

export const Tabs = ({ tabs, label }) => html`<nav class="tabs" aria-label=${label}>${offered(tabs).map(([name, word]) => html`
  <a key=${name} href=${href(route.value.path, { tab: name })} aria-current=${openTab(tabs) === name ? "page" : undefined}>${word}</a>`)}</nav>`;

/** One of several addresses, as a chip. @param {any} words @param {string} address @param {boolean} [isOn] @param {object} [more] */
export const choice = (words, address, isOn = false, more = {}) => html`<a class="chip choice" href=${address} aria-current=${isOn ? "true" : undefined} ...${more}>${words}</a>`;
