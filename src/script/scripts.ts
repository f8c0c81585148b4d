/** Entry to the sandbox: runs of procedures and triggers, and realms of functions. */
import { FunctionRealm } from './function-realm.ts';
import { SandboxPool } from './sandbox-pool.ts';
import type { ScriptText } from './sandbox-protocol.ts';
import { ScriptRun } from './script-run.ts';
import type { ScriptSettings } from './script-settings.ts';

export class Scripts {
  readonly #settings: ScriptSettings;
  readonly #pool: SandboxPool;
  #realmCount = 0;

  constructor(settings: ScriptSettings) {
    this.#settings = settings;
    this.#pool = new SandboxPool({ memoryBytes: settings.scriptMemoryLimit });
  }

  /** Threads running or idle. */
  get threadCount(): number {
    return this.#pool.threadCount;
  }

  /** Leases a thread for scripts that belong together; `release` when they are done. */
  async begin(): Promise<ScriptRun> {
    return new ScriptRun(await this.#pool.lease(), this.#settings);
  }

  /**
   * Functions for one query; `forget` when it is done.
   * @param isPerBatch - true where each batch of calls has the time limit, and not all of them together.
   */
  functions(functions: readonly ScriptText[], isPerBatch = false): FunctionRealm {
    return new FunctionRealm(this.#pool, this.#settings, functions, ++this.#realmCount, isPerBatch);
  }

  close(): Promise<void> {
    return this.#pool.close();
  }
}
