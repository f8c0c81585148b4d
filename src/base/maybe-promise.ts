/** A value now, or a promise of it. Local engines answer at once, remote ones later. */
export type MaybePromise<T> = T | Promise<T>;

export function isPromise<T>(value: MaybePromise<T>): value is Promise<T> {
  return value instanceof Promise;
}

/** Continues at once with a value and later with a promise, so that the synchronous path stays synchronous. */
export function andThen<T, U>(
  value: MaybePromise<T>,
  next: (value: T) => MaybePromise<U>,
): MaybePromise<U> {
  return isPromise(value) ? value.then(next) : next(value);
}

/** The counterpart of try and finally: `finish` runs when `run` is complete, also after an error. */
export function withFinally<T>(run: () => MaybePromise<T>, finish: () => void): MaybePromise<T> {
  let result: MaybePromise<T>;
  try {
    result = run();
  } catch (error) {
    finish();
    throw error;
  }
  if (isPromise(result)) return result.finally(finish);
  finish();
  return result;
}

/** The counterpart of try and catch. */
export function withCatch<T>(
  run: () => MaybePromise<T>,
  recover: (error: unknown) => MaybePromise<T>,
): MaybePromise<T> {
  let result: MaybePromise<T>;
  try {
    result = run();
  } catch (error) {
    return recover(error);
  }
  return isPromise(result) ? result.catch(recover) : result;
}
