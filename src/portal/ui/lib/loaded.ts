/** A value that is asked for when its inputs change, and again on request. */
import { useCallback, useEffect, useRef, useState } from 'preact/hooks';

export interface Loaded<T> {
  readonly value: T | undefined;
  readonly error: unknown;
  readonly isLoading: boolean;
  reload(): void;
}

/** The last value stays while the next is on its way; answers that come too late are dropped. */
export function useLoaded<T>(load: () => Promise<T>, inputs: readonly unknown[]): Loaded<T> {
  const [state, setState] = useState<Omit<Loaded<T>, 'reload'>>({
    value: undefined,
    error: undefined,
    isLoading: true,
  });
  const turn = useRef(0);
  const reload = useCallback(() => {
    const own = ++turn.current;
    setState((before) => ({ ...before, isLoading: true }));
    load().then(
      (value) => own === turn.current && setState({ value, error: undefined, isLoading: false }),
      (error) =>
        own === turn.current && setState((before) => ({ ...before, error, isLoading: false })),
    );
  }, inputs);
  useEffect(() => {
    setState({ value: undefined, error: undefined, isLoading: true });
    reload();
    return () => void turn.current++;
  }, [reload]);
  return { ...state, reload };
}

/** Calls again and again while the tab is visible. */
export function useInterval(callback: () => void, ms: number): void {
  const latest = useRef(callback);
  latest.current = callback;
  useEffect(() => {
    const timer = setInterval(() => document.hidden || latest.current(), ms);
    return () => clearInterval(timer);
  }, [ms]);
}
