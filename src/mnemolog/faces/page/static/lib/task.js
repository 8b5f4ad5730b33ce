// Something done at a click: whether it is under way, and what went wrong.
import { useState } from "../vendor/preact.js";

/** @returns {{isBusy: boolean, trouble: any, run: (work: () => Promise<any>) => Promise<void>}} */
export function useTask() {
  const [state, set] = useState({ isBusy: false, trouble: /** @type {any} */ (null) });
  const run = async (work) => {
    set({ isBusy: true, trouble: null });
    try { await work(); set({ isBusy: false, trouble: null }); } catch (trouble) { set({ isBusy: false, trouble }); }
  };
  return { ...state, run };
}

/** For a form: what is sent is done here, not by the browser. @param {() => void} act */
export const sending = (act) => (event) => { event.preventDefault(); act(); };
