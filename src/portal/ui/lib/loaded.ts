/** A value that is asked for when its inputs change, and again on request. */
import { useCallback, useEffect, useRef, useState } from 'preact/hooks';

export interface Loaded<T> {
  readonly value: T | undefined;
  readonly error: unknown;
  readonly isLoading: boolean;
  /** Asks again, now. */
  reload(): void;
  /** Asks again unless an answer is on its way: who asks faster than answers come would never see one. */
  refresh(): void;
}

type State<T> = Omit<Loaded<T>, 'reload' | 'refresh'>;

/** The last value stays while the next is on its way; answers that come too late are dropped. */
export function useLoaded<T>(load: () => Promise<T>, inputs: readonly unknown[]): Loaded<T> {
  const [state, setState] = useState<State<T>>({
    value: undefined,
    error: undefined,
    isLoading: true,
  });
  const turn = useRef(0);
  const isAsking = useRef(false);
  const reload = useCallback(() => {
    const own = ++turn.current;
    isAsking.current = true;
    setState((before) => ({ ...before, isLoading: true }));
    const complete = (change: (before: State<T>) => State<T>): void => {
      if (own !== turn.current) return;
      isAsking.current = false;
      setState(change);
    };
    load().then(
      (value) => complete(() => ({ value, error: undefined, isLoading: false })),
      (error) => complete((before) => ({ ...before, error, isLoading: false })),
    );
  }, inputs);
  useEffect(() => {
    setState({ value: undefined, error: undefined, isLoading: true });
    reload();
    return () => void turn.current++;
  }, [reload]);
  const refresh = useCallback(() => {
    if (!isAsking.current) reload();
  }, [reload]);
  return { ...state, reload, refresh };
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
