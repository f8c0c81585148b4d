/**
 * Runs procedures and triggers, one after the other. Making a realm takes milliseconds, so one realm is made, its
 * memory is saved as an image, and the image is restored after every script: the next script finds a new realm.
 */
import type { QuickJSHandle } from 'quickjs-emscripten';
import { makeCalls } from './guest/guest-calls.ts';
import { addChains } from './guest/guest-chain.ts';
import { makeChainSteps } from './guest/guest-chain-steps.ts';
import { makeCollection } from './guest/guest-collection.ts';
import { makeConsole } from './guest/guest-console.ts';
import { makeContext } from './guest/guest-context.ts';
import { makeDocuments } from './guest/guest-documents.ts';
import { makeFailurePrinter } from './guest/guest-failure.ts';
import { makeMessage } from './guest/guest-messages.ts';
import { makeRandom } from './guest/guest-random.ts';
import { makeScript } from './guest/guest-script.ts';
import { type Instance, newInstance, Realm } from './realm.ts';
import type { RoundAnswers, SandboxResponse, ScriptStart } from './sandbox-protocol.ts';

const PARTS = [
  makeCalls,
  makeDocuments,
  makeCollection,
  makeChainSteps,
  addChains,
  makeMessage,
  makeConsole,
  makeRandom,
  makeContext,
  makeFailurePrinter,
];
const CODE = `(${makeScript})({${PARTS.map((part) => `${part.name}: ${part}`).join(',')}})`;

export class ScriptExecutor {
  readonly #instance: Instance;
  readonly #realm: Realm;
  readonly #memoryBytes: number;
  readonly #start: QuickJSHandle;
  readonly #resume: QuickJSHandle;
  readonly #round: QuickJSHandle;
  readonly #documents: QuickJSHandle;
  readonly #responseBody: QuickJSHandle;
  readonly #requestBody: QuickJSHandle;
  readonly #log: QuickJSHandle;
  readonly #image: readonly Piece[];

  private constructor(instance: Instance, memoryBytes: number) {
    this.#instance = instance;
    this.#memoryBytes = memoryBytes;
    this.#realm = new Realm(instance, memoryBytes);
    const guest = this.#realm.install(CODE);
    this.#start = this.#realm.method(guest, 'start');
    this.#resume = this.#realm.method(guest, 'resume');
    this.#round = this.#realm.method(guest, 'round');
    this.#documents = this.#realm.method(guest, 'documents');
    this.#responseBody = this.#realm.method(guest, 'responseBody');
    this.#requestBody = this.#realm.method(guest, 'requestBody');
    this.#log = this.#realm.method(guest, 'log');
    guest.dispose();
    this.#image = imageOf(this.#memory());
  }

  static async open(memoryBytes: number): Promise<ScriptExecutor> {
    return new ScriptExecutor(await newInstance(memoryBytes), memoryBytes);
  }

  /** Throws StoppedError; the executor cannot be used again then, unless only the script's text was wrong. */
  start({ script, input, args, timeMs }: ScriptStart): SandboxResponse {
    const realm = this.#realm;
    realm.limitTime(timeMs);
    const main = realm.compile(script);
    realm.call(this.#start, main, realm.text(input), realm.text(args));
    return this.#next();
  }

  /** Throws as `start` does. */
  resume({ answers, texts }: RoundAnswers): SandboxResponse {
    this.#realm.call(this.#resume, this.#realm.text(answers), this.#realm.text(texts));
    return this.#next();
  }

  /** Restores the memory of a new realm. */
  reset(): void {
    const memory = this.#memory();
    for (const { at, bytes } of this.#image) memory.set(bytes, at);
  }

  /** True after a large script: memory of a module only grows, so the executor is replaced. */
  get isLarge(): boolean {
    return this.#memory().length >= this.#memoryBytes;
  }

  #next(): SandboxResponse {
    this.#realm.runJobs();
    const text = this.#realm.call(this.#round);
    if (text !== '')
      return {
        kind: 'round',
        text,
        documents: this.#realm.call(this.#documents),
        isLarge: this.isLarge,
      };
    return {
      kind: 'done',
      response: this.#realm.call(this.#responseBody),
      request: this.#realm.call(this.#requestBody),
      log: this.#realm.call(this.#log),
    };
  }

  /** A new view each time, because growing the memory replaces the buffer. */
  #memory(): Uint8Array {
    return new Uint8Array(this.#instance.getWasmMemory().buffer);
  }
}

/** Pages of an image that are neighbours. */
interface Piece {
  readonly at: number;
  readonly bytes: Uint8Array;
}

const PAGE_BYTES = 4096;
/** Zero pages in a row that are left out of an image: so many are the stack, or were never used. */
const GAP_PAGES = 256;

/** The memory without long gaps of zero pages. */
function imageOf(memory: Uint8Array): readonly Piece[] {
  const words = new BigUint64Array(memory.buffer);
  const wordsPerPage = PAGE_BYTES / 8;
  const pieces: Piece[] = [];
  let start = -1;
  let last = -1;
  const close = (): void => {
    const at = start * PAGE_BYTES;
    if (start >= 0) pieces.push({ at, bytes: memory.slice(at, (last + 1) * PAGE_BYTES) });
  };
  for (let page = 0; page < memory.length / PAGE_BYTES; page++) {
    const first = page * wordsPerPage;
    if (!words.subarray(first, first + wordsPerPage).some((word) => word !== 0n)) continue;
    if (start < 0 || page - last > GAP_PAGES) {
      close();
      start = page;
    }
    last = page;
  }
  close();
  return pieces;
}
