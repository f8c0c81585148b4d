/** Counts the writes that are under way, so that a change of the schema can wait for those that do not know it yet. */
export class WritesUnderWay {
  readonly #running = new Set<Promise<unknown>>();

  /** Runs a write; the schema that it has read stays in use until it ends. */
  async run<T>(write: () => Promise<T>): Promise<T> {
    const running = write();
    const ended = running.catch(() => undefined);
    this.#running.add(ended);
    try {
      return await running;
    } finally {
      this.#running.delete(ended);
    }
  }

  /** Resolves when all writes have ended that were under way at this moment. */
  async finished(): Promise<void> {
    await Promise.all([...this.#running]);
  }
}
