// An address that leads nowhere.
import { html } from "../vendor/preact.js";
import { href } from "../lib/route.js";

export const View = () => html`<h1>Nothing is here</h1><p>This address leads to no view. <a href=${href([])}>Go to the sessions</a>.</p>`;
View.title = "Not found";
