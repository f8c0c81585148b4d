/** One thread's sandbox: answers questions about scripts and functions, each kind on a stage of its own. */
import { FunctionExecutor } from './function-executor.ts';
import { StoppedError } from './realm.ts';
import type { FromSandbox, SandboxSettings, ToSandbox } from './sandbox-protocol.ts';
import { ScriptExecutor } from './script-executor.ts';

export class Sandbox {
  readonly #memoryBytes: number;
  #scripts: ScriptExecutor | undefined;
  #functions: FunctionExecutor | undefined;

  constructor({ memoryBytes }: SandboxSettings) {
    this.#memoryBytes = memoryBytes;
  }

  /** To be called when there is nothing else to do, so that the next script need not wait for it. */
  async prepare(): Promise<void> {
    this.#scripts ??= await ScriptExecutor.open(this.#memoryBytes);
  }

  async answer(question: ToSandbox): Promise<FromSandbox | undefined> {
    switch (question.kind) {
      case 'start': {
        this.#scripts ??= await ScriptExecutor.open(this.#memoryBytes);
        const stage = this.#scripts;
        return this.#onScripts(() => stage.start(question));
      }
      case 'resume': {
        const stage = this.#scripts;
        if (stage === undefined) throw new Error('no script is under way');
        return this.#onScripts(() => stage.resume(question));
      }
      case 'functions': {
        this.#functions ??= await FunctionExecutor.open(this.#memoryBytes);
        const stage = this.#functions;
        const answer = guarded(() => ({ kind: 'results', text: stage.run(question) }));
        if (isBroken(answer)) this.#functions = undefined;
        return answer;
      }
      case 'end':
        if (this.#scripts?.isLarge) this.#scripts = undefined;
        else this.#scripts?.reset();
        return undefined;
      case 'forget':
        this.#functions?.forget(question.realm);
        if (this.#functions?.isDone) this.#functions = undefined;
        return undefined;
    }
  }

  #onScripts(work: () => FromSandbox): FromSandbox {
    const answer = guarded(work);
    if (isBroken(answer)) this.#scripts = undefined;
    return answer;
  }
}

function guarded(work: () => FromSandbox): FromSandbox {
  try {
    return work();
  } catch (error) {
    if (!(error instanceof StoppedError)) throw error;
    return { kind: 'stopped', reason: error.reason, detail: error.message };
  }
}

/** What a stop leaves behind is not worth finding out. */
function isBroken(answer: FromSandbox): boolean {
  return answer.kind === 'stopped' && answer.reason !== 'source';
}
