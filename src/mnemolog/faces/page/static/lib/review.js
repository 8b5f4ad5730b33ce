// How many proposals wait for a person's yes; the badge of the rail, right in every tab.
import { effect, signal } from "../vendor/preact.js";
import { get, has, me } from "./api.js";
import { listen } from "./live.js";

export const waitingProposals = signal(0);

async function count() {
  if (!has("review")) return;
  try { waitingProposals.value = (await get("/review", { limit: 1 })).total ?? 0; } catch { /* the view tells */ }
}

effect(() => { if (me.value) count(); });
listen(["review", "worker"], count);
