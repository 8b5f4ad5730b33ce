// The URL is the state of the page: view, scope, filters, sort, open entry, tab, diff.
import { signal } from "../vendor/preact.js";

/** @typedef {{path: string[], query: Record<string, string>}} Route */

const read = () => ({
  path: location.pathname.split("/").filter(Boolean).map(safeDecode),
  query: Object.fromEntries(new URLSearchParams(location.search)),
});

/** Where we are: decoded parts of the path, and the query. @type {import("../vendor/preact.js").Signal<Route>} */
export const route = signal(read());

// The scope goes along from view to view; everything else belongs to one view.
const SCOPE = ["agent", "user"];

/** An address inside the page. Values that are empty are left out.
 * @param {string[]} path @param {Record<string, unknown>} [query] */
export function href(path, query = {}) {
  const kept = Object.fromEntries(SCOPE.map((name) => [name, route.value.query[name]]));
  const given = Object.entries({ ...kept, ...query }).filter(([, value]) => value !== undefined && value !== null && value !== "" && value !== false);
  const words = new URLSearchParams(given.map(([name, value]) => [name, value === true ? "1" : String(value)])).toString();
  return `/${path.map(encodeURIComponent).join("/")}${words ? `?${words}` : ""}`;
}

/** Where an entry is shown; foreign ids repeat, so never without its session. @param {string} session @param {string} id */
export const entryHref = (session, id) => href(["sessions", session, "entries", id]);

/** Go somewhere inside the page. @param {string} address @param {{replace?: boolean}} [how] */
export function go(address, { replace = false } = {}) {
  if (address === location.pathname + location.search) return;
  places.set(history.state?.at ?? 0, { top: scrollY, ...reading.current?.() });
  const at = replace ? history.state?.at ?? 0 : ++last;
  history[replace ? "replaceState" : "pushState"]({ at }, "", address);
  route.value = read();
  if (!replace) scrollTo(0, 0);
}

/** This view with some of its query changed. @param {Record<string, unknown>} changes */
export const here = (changes) => href(route.value.path, { ...route.value.query, ...changes });

/** Change some of the query and stay in the view. @param {Record<string, unknown>} changes @param {{replace?: boolean}} [how] */
export const change = (changes, how) => go(here(changes), how);

/** What is read now, told by a view in which pixels say too little: an entry, and how far from the top it stands.
 * @type {{current: null | (() => {entry: string, from: number} | null)}} */
export const reading = { current: null };

/** Where one was when this address was left, if one comes back to it. @returns {{top: number, entry?: string, from?: number} | undefined} */
export const placeBefore = () => places.get(history.state?.at ?? 0);

const places = new Map();
let last = history.state?.at ?? 0;
history.scrollRestoration = "manual";
addEventListener("popstate", () => {
  route.value = read();
  const at = history.state?.at ?? 0, { top = 0, entry = "" } = placeBefore() ?? {};
  if (!route.value.query.at && !entry) requestAnimationFrame(() => restore(top, at, 30));
});

/** Scroll to where one was, as soon as the page is long enough for it again. */
function restore(top, at, tries) {
  if ((history.state?.at ?? 0) !== at) return;
  scrollTo(0, top);
  if (Math.abs(scrollY - top) > 2 && tries > 0) setTimeout(() => restore(top, at, tries - 1), 60);
}

// Plain clicks on our own links stay inside the page.
addEventListener("click", (event) => {
  const link = /** @type {Element} */ (event.target).closest?.("a[href]");
  if (!link || event.defaultPrevented || event.button || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
  if (link.hasAttribute("download") || link.getAttribute("target") || !link.getAttribute("href")?.startsWith("/")) return;
  event.preventDefault();
  go(/** @type {string} */ (link.getAttribute("href")));
});

function safeDecode(part) {
  try { return decodeURIComponent(part); } catch { return part; }
}
