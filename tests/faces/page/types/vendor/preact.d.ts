// What the page uses of its vendored Preact, hooks, signals and htm.
export type Signal<T> = { value: T; peek(): T };
type Ref<T> = { current: T };
type Effect = () => unknown;

export function html(words: TemplateStringsArray, ...values: unknown[]): any;
export function render(node: unknown, place: Element): void;
export function signal(none: null): Signal<any>;
export function signal<T>(first: T): Signal<T>;
export function effect(run: Effect): () => void;
export function useEffect(run: Effect, on?: unknown[]): void;
export function useErrorBoundary(): [any, () => void];
export function useLayoutEffect(run: Effect, on?: unknown[]): void;
export function useMemo<T>(make: () => T, on: unknown[]): T;
// What is not there yet: an element, or what is told by and by.
export function useRef(): Ref<any>;
export function useRef<T>(first: T): Ref<T>;
export function useState(none?: null): [any, (next: any) => void];
export function useState<T>(first: T | (() => T)): [T, (next: T | ((now: T) => T)) => void];
