/**
 * One world of JavaScript in QuickJS: its own heap with a limit, its own globals, nothing of ours inside. What is called in
 * it ends by its deadline.
 */
import {
  type EmscriptenModuleLoader,
  newQuickJSWASMModuleFromVariant,
  newVariant,
  type QuickJSContext,
  type QuickJSEmscriptenModule,
  type QuickJSHandle,
  type QuickJSRuntime,
  type QuickJSWASMModule,
  RELEASE_SYNC,
} from 'quickjs-emscripten';
import { GUEST_FILE } from './realm-file.ts';
import type { ScriptText, StopReason } from './sandbox-protocol.ts';

const MIB = 1024 * 1024;
const PAGE_BYTES = 64 * 1024;
/** What the module starts with; the build fixes it. */
const INITIAL_BYTES = 16 * MIB;
/** Realms of functions share the memory of a module, and memory is never used without gaps. */
const REALMS_AT_LIMIT = 3;
/** Of the C stack that interpreted functions nest on. */
const STACK_BYTES = 256 * 1024;
/** Jobs of promises run between two looks at the clock. */
const JOBS_PER_LOOK = 100;

/** Why a realm is of no more use. */
export class StoppedError extends Error {
  override readonly name = 'StoppedError';
  readonly reason: StopReason;

  constructor(reason: StopReason, detail = '') {
    super(detail);
    this.reason = reason;
  }
}

export type Instance = QuickJSWASMModule;

type Module = QuickJSEmscriptenModule;

/** Node has it, its types do not. */
const { Memory } = (
  globalThis as unknown as {
    readonly WebAssembly: {
      readonly Memory: new (size: {
        initial: number;
        maximum: number;
      }) => {
        readonly buffer: ArrayBuffer;
      };
    };
  }
).WebAssembly;

/** QuickJS with memory that ends where the limit says, whatever its own accounting misses. */
export function newInstance(memoryBytes: number): Promise<Instance> {
  const wasmMemory = new Memory({
    initial: INITIAL_BYTES / PAGE_BYTES,
    maximum: Math.ceil((INITIAL_BYTES + REALMS_AT_LIMIT * memoryBytes) / PAGE_BYTES),
  });
  const variant = newVariant(RELEASE_SYNC, { wasmMemory });
  return newQuickJSWASMModuleFromVariant({
    ...variant,
    importModuleLoader: async () => {
      // It may stand inside a module or two; that of `newVariant` does not.
      const load = (await variant.importModuleLoader()) as EmscriptenModuleLoader<Module>;
      return async (options) => withFastTexts(await load(options));
    },
  });
}

/** The module's own functions write a text into its memory character by character: a tenth of what a script takes. */
function withFastTexts(module: Module): Module {
  module.lengthBytesUTF8 = (text) => Buffer.byteLength(text);
  module.stringToUTF8 = (text, at, bytesMax = Number.POSITIVE_INFINITY) => {
    const { buffer } = module.HEAPU8;
    const memory = Buffer.from(buffer, at, Math.min(bytesMax, buffer.byteLength - at));
    const end = memory.write(text, 0, memory.length - 1, 'utf8');
    memory[end] = 0;
  };
  return module;
}

export class Realm {
  readonly #runtime: QuickJSRuntime;
  readonly #context: QuickJSContext;
  #deadlineMs = Number.POSITIVE_INFINITY;
  #isInterrupted = false;

  constructor(instance: Instance, memoryBytes: number) {
    this.#runtime = instance.newRuntime();
    this.#runtime.setMemoryLimit(memoryBytes);
    this.#runtime.setMaxStackSize(STACK_BYTES);
    this.#runtime.setInterruptHandler(() => {
      this.#isInterrupted = performance.now() > this.#deadlineMs;
      return this.#isInterrupted;
    });
    this.#context = this.#runtime.newContext();
  }

  /** From now on, for everything called in it. */
  limitTime(timeMs: number): void {
    this.#isInterrupted = false;
    this.#deadlineMs = performance.now() + timeMs;
  }

  /** Evaluates code of ours. */
  install(code: string): QuickJSHandle {
    return this.#guarded(() => this.#context.evalCode(code, GUEST_FILE));
  }

  /** The function that a text is; throws `source` where it is none. */
  compile({ name, source }: ScriptText): QuickJSHandle {
    const file = `${name}.js`;
    let compiled = this.#evaluate(`(${source}\n)`, file);
    // Several functions one after the other: the first is the one to call.
    const first = /\bfunction\s*\*?\s*([A-Za-z_$][\w$]*)/.exec(source)?.[1];
    if ('failure' in compiled && first !== undefined) {
      const whole = this.#evaluate(`${source}\n;${first}`, file);
      if ('value' in whole) compiled = whole;
    }
    if ('failure' in compiled) throw new StoppedError('source', compiled.failure);
    if (this.#context.typeof(compiled.value) === 'function') return compiled.value;
    throw new StoppedError('source', 'SyntaxError: The script is not a function.');
  }

  method(object: QuickJSHandle, name: string): QuickJSHandle {
    return this.#context.getProp(object, name);
  }

  text(text: string): QuickJSHandle {
    return this.#context.newString(text);
  }

  /** The result as text; empty where there is none. Handles given are used up. */
  call(method: QuickJSHandle, ...args: readonly QuickJSHandle[]): string {
    const result = this.#guarded(() =>
      this.#context.callFunction(method, this.#context.undefined, ...args),
    );
    for (const arg of args) arg.dispose();
    const text = this.#context.typeof(result) === 'string' ? this.#context.getString(result) : '';
    result.dispose();
    return text;
  }

  /** Runs what promises have scheduled. */
  runJobs(): void {
    while (this.#runtime.hasPendingJob()) {
      this.#look();
      // A job that throws is a rejection nobody handled: it changes nothing. One that was stopped is another matter.
      const ran = this.#attempt(() => this.#runtime.executePendingJobs(JOBS_PER_LOOK));
      ran.dispose();
      this.#look();
    }
  }

  #look(): void {
    if (this.#isInterrupted || performance.now() > this.#deadlineMs) throw new StoppedError('time');
  }

  dispose(): void {
    this.#context.dispose();
    this.#runtime.dispose();
  }

  #evaluate(
    code: string,
    file: string,
  ): { readonly value: QuickJSHandle } | { readonly failure: string } {
    const result = this.#attempt(() => this.#context.evalCode(code, file));
    if (!result.error) return { value: result.value };
    return { failure: this.#failure(result.error) };
  }

  /** Runs something that gives a handle; what is thrown inside ends the realm. */
  #guarded(work: () => ReturnType<QuickJSContext['callFunction']>): QuickJSHandle {
    const result = this.#attempt(work);
    if (!result.error) return result.value;
    throw new StoppedError('depth', this.#failure(result.error));
  }

  /** The host's own stack ends where JSON nests too deep: the module is broken then, and with it the realm. */
  #attempt<T>(work: () => T): T {
    try {
      return work();
    } catch (error) {
      if (error instanceof StoppedError) throw error;
      throw new StoppedError(
        this.#isInterrupted ? 'time' : 'depth',
        'InternalError: stack overflow',
      );
    }
  }

  /** Throws where the limits were reached. */
  #failure(error: QuickJSHandle): string {
    if (this.#isInterrupted) throw new StoppedError('time');
    const { name, message } = this.#attempt(() => this.#context.dump(error)) as {
      name?: unknown;
      message?: unknown;
    };
    error.dispose();
    if (message === 'out of memory') throw new StoppedError('memory');
    return `${String(name)}: ${String(message)}`;
  }
}
