// What the search box asks of the view beside it.
import { signal } from "../vendor/preact.js";

/** Enter was pressed: the first hit takes the focus as soon as the hits are those of the words typed. */
export const isEntered = signal(false);
