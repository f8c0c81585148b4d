/**
 * A realm: one JavaScript heap in QuickJS with a memory limit and its own globals, without any object of the host.
 * Every call in it ends by a deadline.
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
import { GUEST_FILE, type ScriptText, type StopReason } from './sandbox-protocol.ts';

const MIB = 1024 * 1024;
const PAGE_BYTES = 64 * 1024;
/** The first size of the module's memory, which its build fixes. */
const INITIAL_BYTES = 16 * MIB;
/** Realms of functions share the memory of a module, and its allocator leaves gaps. */
const REALMS_AT_LIMIT = 3;
/** The C stack, on which interpreted functions nest. */
const STACK_BYTES = 256 * 1024;
/** Jobs of promises that run between two checks of the deadline. */
const JOBS_PER_CHECK = 100;

/** The realm was stopped and can no longer be used, except where only the source was wrong. */
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

/** Node has WebAssembly, but its types lack it. */
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

/** QuickJS with memory that cannot grow beyond the limit, even where its own accounting misses some. */
export function newInstance(memoryBytes: number): Promise<Instance> {
  const wasmMemory = new Memory({
    initial: INITIAL_BYTES / PAGE_BYTES,
    maximum: Math.ceil((INITIAL_BYTES + REALMS_AT_LIMIT * memoryBytes) / PAGE_BYTES),
  });
  const variant = newVariant(RELEASE_SYNC, { wasmMemory });
  return newQuickJSWASMModuleFromVariant({
    ...variant,
    importModuleLoader: async () => {
      // The type allows a module around the loader; the loader of `newVariant` has none.
      const load = (await variant.importModuleLoader()) as EmscriptenModuleLoader<Module>;
      return async (options) => withFastTexts(await load(options));
    },
  });
}

/** Replaces the module's functions that write texts character by character, which take a tenth of a script's time. */
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

  /** Sets the deadline of all calls from now on. */
  limitTime(timeMs: number): void {
    this.#isInterrupted = false;
    this.#deadlineMs = performance.now() + timeMs;
  }

  /** Evaluates our own code. */
  install(code: string): QuickJSHandle {
    return this.#guarded(() => this.#context.evalCode(code, GUEST_FILE));
  }

  /** Compiles a text to a function; throws StoppedError `source` where it is not one. */
  compile({ name, source }: ScriptText): QuickJSHandle {
    const file = `${name}.js`;
    let compiled = this.#evaluate(`(${source}\n)`, file);
    // A text may have several functions: the first is the one to call.
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

  /** Returns the result as text; empty where there is none. Disposes of the arguments. */
  call(method: QuickJSHandle, ...args: readonly QuickJSHandle[]): string {
    const result = this.#guarded(() =>
      this.#context.callFunction(method, this.#context.undefined, ...args),
    );
    for (const arg of args) arg.dispose();
    const text = this.#context.typeof(result) === 'string' ? this.#context.getString(result) : '';
    result.dispose();
    return text;
  }

  /** Runs the jobs that promises have scheduled. */
  runJobs(): void {
    while (this.#runtime.hasPendingJob()) {
      this.#checkDeadline();
      // A job that throws is an unhandled rejection and changes nothing. A job that was stopped ends the realm.
      const ran = this.#attempt(() => this.#runtime.executePendingJobs(JOBS_PER_CHECK));
      ran.dispose();
      this.#checkDeadline();
    }
  }

  #checkDeadline(): void {
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

  /** Runs a function that returns a handle; an error inside ends the realm. */
  #guarded(run: () => ReturnType<QuickJSContext['callFunction']>): QuickJSHandle {
    const result = this.#attempt(run);
    if (!result.error) return result.value;
    throw new StoppedError('depth', this.#failure(result.error));
  }

  /** Deeply nested JSON overflows the host's own stack: the module is broken then, and with it the realm. */
  #attempt<T>(run: () => T): T {
    try {
      return run();
    } catch (error) {
      if (error instanceof StoppedError) throw error;
      throw new StoppedError(
        this.#isInterrupted ? 'time' : 'depth',
        'InternalError: stack overflow',
      );
    }
  }

  /** The error as text; throws where a limit was reached. */
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
