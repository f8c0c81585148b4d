/** Writers of the same partitions of base tables take turns: their transactions would only begin again and again. */
export class PartitionLocks {
  readonly #last = new Map<string, Promise<unknown>>();

  /** Runs when all who asked for one of these names before are done. */
  async run<T>(names: readonly string[], work: () => Promise<T>): Promise<T> {
    const own = [...new Set(names)];
    const before = own.flatMap((name) => this.#last.get(name) ?? []);
    const result = Promise.all(before).then(work);
    const ended = result.catch(() => undefined);
    // All names are taken at once, so that nobody waits for somebody who waits.
    for (const name of own) this.#last.set(name, ended);
    try {
      return await result;
    } finally {
      for (const name of own) if (this.#last.get(name) === ended) this.#last.delete(name);
    }
  }
}
