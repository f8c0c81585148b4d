/** Where user-defined functions run: a realm for each query under way, all in one module. */
import type { QuickJSHandle } from 'quickjs-emscripten';
import { makeFunctions } from './guest/guest-functions.ts';
import { type Instance, newInstance, Realm } from './realm.ts';
import type { ScriptText } from './sandbox-protocol.ts';

/** Kept for queries under way; the least recently used goes. */
const REALMS_MAX = 4;

const CODE = `(${makeFunctions})()`;

interface FunctionRealm {
  readonly realm: Realm;
  readonly run: QuickJSHandle;
}

interface FunctionCalls {
  readonly realm: number;
  readonly functions: readonly ScriptText[];
  readonly calls: string;
  readonly timeMs: number;
}

export class FunctionExecutor {
  readonly #instance: Instance;
  readonly #memoryBytes: number;
  readonly #realms = new Map<number, FunctionRealm>();
  /** A realm could not be closed in order, or the memory has grown: better a new stage once nobody needs this one. */
  #isWorn = false;

  private constructor(instance: Instance, memoryBytes: number) {
    this.#instance = instance;
    this.#memoryBytes = memoryBytes;
  }

  static async open(memoryBytes: number): Promise<FunctionExecutor> {
    return new FunctionExecutor(await newInstance(memoryBytes), memoryBytes);
  }

  /** True where it should be replaced. */
  get isDone(): boolean {
    const isLarge = this.#instance.getWasmMemory().buffer.byteLength >= this.#memoryBytes;
    return (this.#isWorn || isLarge) && this.#realms.size === 0;
  }

  /** Throws StoppedError; the stage is of no more use then, unless it was the text of a function. */
  run({ realm: id, functions, calls, timeMs }: FunctionCalls): string {
    const current = this.#realms.get(id) ?? this.#open(functions, timeMs);
    this.#realms.delete(id);
    this.#realms.set(id, current);
    const [oldest] = this.#realms.keys();
    if (this.#realms.size > REALMS_MAX && oldest !== undefined) this.forget(oldest);
    const { realm, run } = current;
    realm.limitTime(timeMs);
    return realm.call(run, realm.text(calls));
  }

  forget(id: number): void {
    const current = this.#realms.get(id);
    if (current === undefined) return;
    this.#realms.delete(id);
    try {
      current.run.dispose();
      current.realm.dispose();
    } catch {
      this.#isWorn = true;
    }
  }

  #open(functions: readonly ScriptText[], timeMs: number): FunctionRealm {
    const realm = new Realm(this.#instance, this.#memoryBytes);
    // Closed in order only where all functions are functions.
    const wasWorn = this.#isWorn;
    this.#isWorn = true;
    realm.limitTime(timeMs);
    const guest = realm.install(CODE);
    const add = realm.method(guest, 'add');
    for (const text of functions) realm.call(add, realm.text(text.name), realm.compile(text));
    add.dispose();
    const run = realm.method(guest, 'run');
    guest.dispose();
    this.#isWorn = wasWorn;
    return { realm, run };
  }
}
