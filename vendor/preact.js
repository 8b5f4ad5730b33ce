// Everything of Preact, its hooks, signals and htm that the page uses, as one module.
import { h, Fragment, createContext, render } from "preact";
import htm from "htm/mini";

export { h, Fragment, createContext, render };
export { useCallback, useContext, useEffect, useErrorBoundary, useId, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
export { batch, computed, effect, signal, untracked, useComputed, useSignal, useSignalEffect } from "@preact/signals";
export const html = htm.bind(h);
