/**
 * A failed assertion is our own bug. It fails the request or the partition, so that a broken invariant does not
 * spread.
 */
export function assert(condition: unknown, message: string): asserts condition {
  if (!condition) throw new AssertionError(message);
}

/** Marks code that no value can reach. The compiler proves it; the throw guards against wrong types at run time. */
export function unreachable(value: never): never {
  throw new AssertionError(`unreachable: ${String(value)}`);
}

export class AssertionError extends Error {
  override readonly name = 'AssertionError';
}
