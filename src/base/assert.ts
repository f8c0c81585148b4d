/** Our own bug: fails the request or the partition it is found in, instead of going on with a broken invariant. */
export function assert(condition: unknown, message: string): asserts condition {
  if (!condition) throw new AssertionError(message);
}

/** Marks a place that no value can reach; the compiler proves it, the throw guards it. */
export function unreachable(value: never): never {
  throw new AssertionError(`unreachable: ${String(value)}`);
}

export class AssertionError extends Error {
  override readonly name = 'AssertionError';
}
