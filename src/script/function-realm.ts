/** Runs the user defined functions of a query in a sandbox thread, over many rows at once. */
import type { SandboxPool } from './sandbox-pool.ts';
import type { ScriptText } from './sandbox-protocol.ts';
import type { SandboxThread } from './sandbox-thread.ts';
import { brokenGuest, parseGuestText, responseError } from './script-error.ts';
import type { ScriptRun } from './script-run.ts';
import { GRACE_MS, type ScriptSettings } from './script-settings.ts';

/** The result of one call of a function. */
type FunctionResult =
  | { readonly kind: 'value'; readonly value: unknown }
  | { readonly kind: 'undefined' }
  | { readonly kind: 'error'; readonly message: string };

/** The functions of one query in a realm of their own: in a thread of the query, or of the script that runs it. */
export class FunctionRealm {
  readonly #pool: SandboxPool;
  readonly #functions: readonly ScriptText[];
  readonly #id: number;
  readonly #timeLimitMs: number;
  /** True where the limit is that of each batch: then the query has a deadline of its own. */
  readonly #isPerBatch: boolean;
  #timeMs = 0;
  #thread: SandboxThread | undefined;

  constructor(
    pool: SandboxPool,
    { scriptTimeLimitMs }: ScriptSettings,
    functions: readonly ScriptText[],
    id: number,
    isPerBatch: boolean,
  ) {
    this.#pool = pool;
    this.#functions = functions;
    this.#id = id;
    this.#timeLimitMs = scriptTimeLimitMs;
    this.#isPerBatch = isPerBatch;
  }

  /**
   * @param calls - each as JSON text, see guest-functions.ts.
   * @param timeMaxMs - what is left of the time of the query.
   */
  async run(
    calls: readonly string[],
    within?: ScriptRun,
    timeMaxMs = Number.POSITIVE_INFINITY,
  ): Promise<readonly FunctionResult[]> {
    if (within !== undefined) return this.#runIn(within.thread, calls, timeMaxMs);
    const lease = await this.#pool.lease(this.#thread);
    try {
      return await this.#runIn(lease.thread, calls, timeMaxMs);
    } finally {
      lease.release();
    }
  }

  /** Must be called when the query is done. */
  forget(): void {
    this.#thread?.post({ kind: 'forget', realm: this.#id });
  }

  /** All calls of the query share one time limit, or those of a batch. */
  async #runIn(
    thread: SandboxThread,
    calls: readonly string[],
    timeMaxMs: number,
  ): Promise<readonly FunctionResult[]> {
    this.#thread = thread;
    const startedMs = performance.now();
    const leftMs = this.#timeLimitMs - (this.#isPerBatch ? 0 : this.#timeMs);
    const timeMs = Math.max(1, Math.min(leftMs, timeMaxMs));
    const response = await thread.request(
      {
        kind: 'functions',
        realm: this.#id,
        functions: this.#functions,
        calls: `[${calls.join(',')}]`,
        timeMs,
      },
      timeMs + GRACE_MS,
    );
    this.#timeMs += performance.now() - startedMs;
    if (response.kind !== 'results') throw responseError(response);
    return resultsOf(response.text, calls.length);
  }
}

function resultsOf(text: string, count: number): readonly FunctionResult[] {
  const list = parseGuestText(text);
  if (!Array.isArray(list) || list.length !== count) throw brokenGuest();
  return list.map((entry: unknown): FunctionResult => {
    const [kind, value] = entry as readonly unknown[];
    if (kind === 0) return { kind: 'value', value };
    if (kind === 1) return { kind: 'undefined' };
    return { kind: 'error', message: String(value).slice(0, MESSAGE_LENGTH_MAX) };
  });
}

/** Longer messages of functions are cut, because each row may have one. */
const MESSAGE_LENGTH_MAX = 1024;
