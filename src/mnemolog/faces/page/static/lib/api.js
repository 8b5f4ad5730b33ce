// The one door to the server: bearer token, problem+json, no cookies.
import { signal } from "../vendor/preact.js";
import { route } from "./route.js";

const KEY = "mnemolog.token";

/** Who we are to the server; null until known, false when signed out. */
export const me = signal(null);

/** Why a link did not sign in. */
export const refused = signal(null);

/** What the server refused, with what to do about it. */
class Problem extends Error {
  /** @param {number} status @param {Record<string, any>} told @param {string | null} wait seconds */
  constructor(status, told, wait) {
    super(told.detail ?? `The server answered ${status}.`);
    this.status = status;
    this.code = told.code ?? "";
    this.advice = told.advice ?? "";
    this.requestId = told.request_id ?? "";
    this.retryAfter = Number(wait);
    this.told = told;
  }
}

/** Whether this token may change anything. */
export const canWrite = () => !me.value?.scope?.read_only;

/** Whether this token reaches everything; what is about all of it is shown to nobody else. */
export const isOwner = () => !me.value?.scope?.agents?.length && !me.value?.scope?.users?.length;

/** Whether the server has a part. @param {string} part */
export const has = (part) => Boolean(me.value?.capabilities?.includes(part));

const token = () => localStorage.getItem(KEY) ?? "";

/** Who asks, and the scope of the URL: the server narrows every answer to it. @param {boolean} [isScoped] */
export function authorization(isScoped = true) {
  const { agent, user } = isScoped ? route.peek().query : {};
  return { authorization: `Bearer ${token()}`, ...(agent && { "mnemolog-agent": octets(agent) }), ...(user && { "mnemolog-user": octets(user) }) };
}

// A header holds bytes: UTF-8, one character for each.
const octets = (text) => String.fromCharCode(...new TextEncoder().encode(text));

/** A request that was given up stays what it is; any other that got no answer says so. @param {Error} error @returns {never} */
function away(error) {
  throw error.name === "AbortError" ? error : Object.assign(new Error("The server does not answer."), { advice: "What is shown stays; this view comes back by itself when it answers." });
}

/** @param {string} method @param {string} path below /api/v1 @param {{query?: Record<string, any>, body?: any, headers?: Record<string, string>, signal?: AbortSignal, isScoped?: boolean}} [more] @returns {Promise<any>} */
export async function call(method, path, { query = {}, body, headers = {}, signal: stop, isScoped = true } = {}) {
  const words = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    if (value === undefined || value === null || value === "") continue;
    for (const one of Array.isArray(value) ? value : [value]) words.append(name, String(one));
  }
  /** @type {Record<string, string>} */
  const told = body === undefined ? {} : { "content-type": "application/json" };
  const answer = await fetch(`/api/v1${path}${words.size ? `?${words}` : ""}`, {
    method, signal: stop, credentials: "omit", cache: "no-store", redirect: "error",
    headers: { accept: "application/json", ...authorization(isScoped), ...told, ...headers },
    body: body === undefined ? undefined : JSON.stringify(body),
  }).catch(away);
  const text = await answer.text();
  /** @type {any} */
  let parsed = null;
  try { parsed = text ? JSON.parse(text) : null; } catch { parsed = { detail: "The server's answer is not JSON." }; }
  if (!answer.ok) {
    if (answer.status === 401) me.value = false;
    throw new Problem(answer.status, parsed ?? {}, answer.headers.get("retry-after"));
  }
  return parsed;
}

export const get = (path, query, stop) => call("GET", path, { query, signal: stop });
export const post = (path, body = {}, more = {}) => call("POST", path, { body, ...more });

/** Parts of a path, encoded. @param {TemplateStringsArray} words @param {...string} values */
export const url = (words, ...values) => words.reduce((all, word, at) => all + word + (at < values.length ? encodeURIComponent(values[at]) : ""), "");

/** Exchange the one-time code of the link for a token, and take it out of the address at once. */
export async function signIn(code) {
  const given = await post("/login", { code });
  localStorage.setItem(KEY, given.token);
  await whoAmI();
}

export async function signOut() {
  await post("/logout").catch(() => null);
  localStorage.removeItem(KEY);
  me.value = false;
}

export async function whoAmI() {
  try { me.value = await call("GET", "/me", { isScoped: false }); } catch (problem) {
    if (problem instanceof Problem && problem.status === 401) me.value = false;
    else throw problem;
  }
}

/** The code in the fragment, removed from the address bar and the history before anything else. */
export function takeCode() {
  const code = new URLSearchParams(location.hash.slice(1)).get("code");
  if (location.hash) history.replaceState(history.state, "", location.pathname + location.search);
  return code;
}
