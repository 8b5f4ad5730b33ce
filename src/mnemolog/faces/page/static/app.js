// The frame of the page: who is signed in, where we are, and one view at a time.
import { html, render, signal, useEffect, useErrorBoundary, useRef, useState } from "./vendor/preact.js";
import { me, refused, signIn, takeCode, whoAmI } from "./lib/api.js";
import { focusOn } from "./lib/keys.js";
import { start } from "./lib/live.js";
import { href, route } from "./lib/route.js";
import { Dialogs } from "./parts/dialog.js";
import { Bar, Menu, Rail } from "./parts/frame.js";
import { Toasts } from "./parts/toast.js";
import { Trouble } from "./parts/trouble.js";

/** An address that leads nowhere. */
const Lost = () => html`<h1>Nothing is here</h1><p>This address leads to no view. <a href=${href([])}>Go to the sessions</a>.</p>`;
Lost.title = "Not found";

const VIEWS = {
  sessions: () => import("./views/sessions.js"),
  session: () => import("./views/session.js"),
  entry: () => import("./views/entry.js"),
  search: () => import("./views/search.js"),
  knowledge: () => import("./views/knowledge.js"),
  review: () => import("./views/review.js"),
  forgetting: () => import("./views/forgetting.js"),
  health: () => import("./views/health.js"),
  signin: () => import("./views/signin.js"),
  lost: async () => ({ View: Lost }),
};

/** Which view a path asks for. @param {string[]} path */
function viewOf([first, , third, fourth]) {
  if (!first) return "sessions";
  if (first === "sessions") return third === "entries" && fourth ? "entry" : route.value.path[1] ? "session" : "sessions";
  return first in VIEWS && !["session", "entry", "signin", "lost"].includes(first) ? first : "lost";
}

const failed = signal(null);

function View({ name }) {
  const [module, set] = useState();
  const [error, reset] = useErrorBoundary();
  const place = useRef();
  useEffect(() => {
    let isHere = true;
    VIEWS[name]().then((loaded) => isHere && set({ name, View: loaded.View })).catch((trouble) => { failed.value = trouble; });
    return () => { isHere = false; };
  }, [name]);
  useEffect(() => { if (error) reset(); }, [route.value.path.join("/")]);
  // What had the focus may be gone with what was drawn before; then the content has it.
  useEffect(() => {
    const watch = new MutationObserver(() => { if (document.activeElement === document.body) place.current?.focus({ preventScroll: true }); });
    watch.observe(place.current, { childList: true, subtree: true });
    return () => watch.disconnect();
  }, []);
  useEffect(() => { document.title = `${module?.View.title ?? "mnemolog"} · mnemolog`; });
  const shown = error ? html`<${Trouble} trouble=${error} again=${reset} />` : module && html`<${module.View} key=${module.name} />`;
  return html`<main id="main" ref=${place} tabindex="-1">${failed.value ? html`<${Trouble} trouble=${failed.value} />` : shown}</main>`;
}

function App() {
  if (me.value === null) return null;
  const name = me.value === false ? "signin" : viewOf(route.value.path);
  return html`<a class="skip button" href="#main" onClick=${(event) => { event.preventDefault(); focusOn("#main"); }}>Skip to the content</a>
    <div class="frame"><${Bar} /><${Rail} /><${View} name=${name} /></div>
    <${Menu} /><${Dialogs} /><${Toasts} />`;
}

const code = takeCode();
VIEWS[viewOf(route.peek().path)](); // fetched while the server is asked who we are
const root = /** @type {HTMLElement} */ (document.getElementById("page"));
root.replaceChildren();
render(html`<${App} />`, root);
(code ? signIn(code).catch((trouble) => { refused.value = trouble; return whoAmI(); }) : whoAmI())
  .then(() => { if (me.value) start(); })
  .catch((trouble) => { failed.value = trouble; me.value = { capabilities: [], scope: {} }; });
