// Reading something for a view: skeleton after 150 ms, old answers dropped, trouble kept in place. What is gone is not shown
// again, while what is there stays if the server is not to be had. And doing something at a click.
import { useEffect, useRef, useState } from "../vendor/preact.js";
import { get } from "./api.js";
import { useEvents } from "./live.js";
import { route } from "./route.js";

/** Somebody did not want to wait. */
export const LEFT = { message: "You stopped waiting.", advice: "Nothing was changed." };

/** @template T @param {(stop: AbortSignal) => Promise<T>} read @param {unknown[]} on what makes it read again
 * @param {string[]} [topics] events after which it is read again
 * @returns {{value: T | null, trouble: any, isSlow: boolean, isBusy: boolean, again: () => void, leave: () => void}} */
export function useLoad(read, on, topics = []) {
  const [state, set] = useState(/** @type {any} */ ({ value: null, trouble: null, isSlow: false, isBusy: true }));
  const [turn, again] = useState(0);
  const { agent, user } = route.value.query; // another scope, other answers
  const key = JSON.stringify([on, agent, user]);
  const shown = useRef(""), under = useRef(/** @type {"" | "way" | "stale"} */ ("")), way = useRef(new AbortController());
  useEffect(() => {
    const stop = (way.current = new AbortController());
    const isOther = shown.current !== key;
    shown.current = key;
    under.current = "way";
    set((now) => ({ ...now, value: isOther ? null : now.value, isBusy: true, trouble: null, isSlow: false }));
    const slow = setTimeout(() => set((now) => ({ ...now, isSlow: true })), 150);
    read(stop.signal)
      .then((value) => stop.signal.aborted || set({ value, trouble: null, isSlow: false, isBusy: false }))
      .catch((trouble) => stop.signal.aborted || set((now) => ({ ...now, value: trouble.status === 404 ? null : now.value, trouble, isSlow: false, isBusy: false })))
      .finally(() => {
        clearTimeout(slow);
        if (stop.signal.aborted) return;
        if (under.current === "stale") again((now) => now + 1);
        under.current = "";
      });
    return () => { clearTimeout(slow); stop.abort(); };
  }, [key, turn]);
  // What was given up is read again when it is asked for, not when something happens.
  const leave = () => { way.current.abort(); set((now) => ({ ...now, trouble: LEFT, isSlow: false, isBusy: false })); };
  // Events may come faster than answers: one that is under way is waited for, and then read once more.
  useEvents(topics, () => { if (under.current) under.current = "stale"; else again((now) => now + 1); });
  return { ...state, isBusy: state.isBusy || shown.current !== key, again: () => again((now) => now + 1), leave };
}

/** The same of one address; nothing while that is none. @param {string | false} address @param {Record<string, any>} [query] @param {string[]} [topics] @param {unknown} [on] */
export const useGet = (address, query = {}, topics, on) => useLoad((stop) => (address ? get(address, query, stop) : Promise.resolve(null)), [address, query, on], topics);

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
