/** Measures a chain of streams of which each pulls from the one before: what each of them adds to it. */
import type { TracedStep } from './operation-trace.ts';

interface Measured {
  readonly name: string;
  /** These include the steps before. */
  charge: number;
  durationMs: number;
  rows: number;
}

export class StepMeter {
  readonly #chargeNow: () => number;
  readonly #steps: Measured[] = [];

  /** @param chargeNow - the request units of the whole request so far. */
  constructor(chargeNow: () => number) {
    this.#chargeNow = chargeNow;
  }

  /** The same batches, counted. Steps are named in the order in which they are chained. */
  measure<T>(name: string, output: Stream<T>): Stream<T> {
    const step: Measured = { name, charge: 0, durationMs: 0, rows: 0 };
    this.#steps.push(step);
    return measured(step, output, this.#chargeNow);
  }

  steps(): readonly TracedStep[] {
    return this.#steps.map(({ name, charge, durationMs, rows }, at) => {
      const before = this.#steps[at - 1];
      return {
        name,
        charge: Math.max(0, charge - (before?.charge ?? 0)),
        durationMs: Math.max(0, durationMs - (before?.durationMs ?? 0)),
        rows,
      };
    });
  }
}

type Stream<T> = AsyncGenerator<readonly T[], void, undefined>;

async function* measured<T>(step: Measured, output: Stream<T>, chargeNow: () => number): Stream<T> {
  try {
    for (;;) {
      const startedMs = performance.now();
      const before = chargeNow();
      const { value, done } = await output.next();
      step.durationMs += performance.now() - startedMs;
      step.charge += chargeNow() - before;
      if (done === true) return;
      step.rows += value.length;
      yield value;
    }
  } finally {
    await output.return();
  }
}
