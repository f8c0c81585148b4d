/** Runs user defined functions: a realm for each active query, all in one module. */
import type { QuickJSHandle } from 'quickjs-emscripten';
import { makeFunctions } from './guest/guest-functions.ts';
import { type Instance, newInstance, Realm } from './realm.ts';
import type { ScriptText } from './sandbox-protocol.ts';

/** Realms kept for active queries; the least recently used one is closed first. */
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
  /** True where a realm could not be closed in order: its memory is lost, so the executor is replaced when idle. */
  #hasLeaked = false;

  private constructor(instance: Instance, memoryBytes: number) {
    this.#instance = instance;
    this.#memoryBytes = memoryBytes;
  }

  static async open(memoryBytes: number): Promise<FunctionExecutor> {
    return new FunctionExecutor(await newInstance(memoryBytes), memoryBytes);
  }

  /** True where no realm is open and the executor should be replaced. */
  get isDone(): boolean {
    const isLarge = this.#instance.getWasmMemory().buffer.byteLength >= this.#memoryBytes;
    return (this.#hasLeaked || isLarge) && this.#realms.size === 0;
  }

  /** Throws StoppedError; the executor cannot be used again then, unless only the text of a function was wrong. */
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
      // QuickJS does not free a runtime that has handles left: its memory is lost until the executor is replaced.
      this.#hasLeaked = true;
    }
  }

  #open(functions: readonly ScriptText[], timeMs: number): FunctionRealm {
    const realm = new Realm(this.#instance, this.#memoryBytes);
    // A text that is not a function throws and leaves the realm open.
    const hadLeaked = this.#hasLeaked;
    this.#hasLeaked = true;
    realm.limitTime(timeMs);
    const guest = realm.install(CODE);
    const add = realm.method(guest, 'add');
    for (const text of functions) realm.call(add, realm.text(text.name), realm.compile(text));
    add.dispose();
    const run = realm.method(guest, 'run');
    guest.dispose();
    this.#hasLeaked = hadLeaked;
    return { realm, run };
  }
}
