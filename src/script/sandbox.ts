/** The sandbox of one thread: runs scripts and functions, each kind in an executor of its own. */
import { assert } from '../base/index.ts';
import { FunctionExecutor } from './function-executor.ts';
import { StoppedError } from './realm.ts';
import type { SandboxRequest, SandboxResponse, SandboxSettings } from './sandbox-protocol.ts';
import { ScriptExecutor } from './script-executor.ts';

export class Sandbox {
  readonly #memoryBytes: number;
  #scripts: ScriptExecutor | undefined;
  #functions: FunctionExecutor | undefined;

  constructor({ memoryBytes }: SandboxSettings) {
    this.#memoryBytes = memoryBytes;
  }

  /** Makes the executor of scripts ahead, to be called when idle, so that the next script does not wait for it. */
  async prepare(): Promise<void> {
    this.#scripts ??= await ScriptExecutor.open(this.#memoryBytes);
  }

  async handle(request: SandboxRequest): Promise<SandboxResponse | undefined> {
    switch (request.kind) {
      case 'start': {
        this.#scripts ??= await ScriptExecutor.open(this.#memoryBytes);
        const executor = this.#scripts;
        return this.#runScript(() => executor.start(request));
      }
      case 'resume': {
        const executor = this.#scripts;
        assert(executor !== undefined, 'a script has started before it is resumed');
        return this.#runScript(() => executor.resume(request));
      }
      case 'functions': {
        this.#functions ??= await FunctionExecutor.open(this.#memoryBytes);
        const executor = this.#functions;
        const response = guarded(() => ({ kind: 'results', text: executor.run(request) }));
        if (isBroken(response)) this.#functions = undefined;
        return response;
      }
      case 'end':
        if (this.#scripts?.isLarge) this.#scripts = undefined;
        else this.#scripts?.reset();
        return undefined;
      case 'forget':
        this.#functions?.forget(request.realm);
        if (this.#functions?.isDone) this.#functions = undefined;
        return undefined;
    }
  }

  #runScript(run: () => SandboxResponse): SandboxResponse {
    const response = guarded(run);
    if (isBroken(response)) this.#scripts = undefined;
    return response;
  }
}

function guarded(run: () => SandboxResponse): SandboxResponse {
  try {
    return run();
  } catch (error) {
    if (!(error instanceof StoppedError)) throw error;
    return { kind: 'stopped', reason: error.reason, detail: error.message };
  }
}

/** True where the executor is replaced: the state that a stopped script leaves is unknown. */
function isBroken(response: SandboxResponse): boolean {
  return response.kind === 'stopped' && response.reason !== 'source';
}
