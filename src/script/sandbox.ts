/** One thread's sandbox: answers questions about scripts and functions, each in a realm of its own. */
import type { QuickJSHandle } from 'quickjs-emscripten';
import { makeCalls } from './guest/guest-calls.ts';
import { addChains } from './guest/guest-chain.ts';
import { makeCollection } from './guest/guest-collection.ts';
import { makeConsole } from './guest/guest-console.ts';
import { makeFunctions } from './guest/guest-functions.ts';
import { makeMessage } from './guest/guest-messages.ts';
import { makeScript } from './guest/guest-script.ts';
import { type Instance, newInstance, Realm, StoppedError } from './realm.ts';
import type { FromSandbox, SandboxSettings, ToSandbox } from './sandbox-protocol.ts';

/** Realms of functions kept for queries under way; the least recently used goes. */
const FUNCTION_REALMS_MAX = 4;

const PARTS = [makeCalls, makeCollection, addChains, makeMessage, makeConsole];
const SCRIPT_CODE = `(${makeScript})({${PARTS.map((part) => `${part.name}: ${part}`).join(',')}})`;
const FUNCTIONS_CODE = `(${makeFunctions})()`;

type Question<Kind extends ToSandbox['kind']> = Extract<ToSandbox, { readonly kind: Kind }>;

interface ScriptRealm {
  readonly realm: Realm;
  readonly start: QuickJSHandle;
  readonly resume: QuickJSHandle;
  readonly turn: QuickJSHandle;
  readonly results: readonly [QuickJSHandle, QuickJSHandle, QuickJSHandle];
}

interface FunctionRealm {
  readonly realm: Realm;
  readonly run: QuickJSHandle;
}

export class Sandbox {
  readonly #settings: SandboxSettings;
  #instance: Instance | undefined;
  /** Made ahead, so that the next script need not wait for it. */
  #spare: ScriptRealm | undefined;
  #script: ScriptRealm | undefined;
  readonly #functions = new Map<number, FunctionRealm>();
  /** A realm could not be closed in order: the module is replaced when the script under way is done. */
  #isLeaking = false;

  constructor(settings: SandboxSettings) {
    this.#settings = settings;
  }

  async answer(question: ToSandbox): Promise<FromSandbox | undefined> {
    const instance = await this.#ready();
    try {
      switch (question.kind) {
        case 'start':
          return this.#start(question, instance);
        case 'resume':
          return this.#resume(question);
        case 'functions':
          return this.#run(question, instance);
        case 'end':
          this.#end();
          return undefined;
        case 'forget':
          this.#forget(question.realm);
          return undefined;
      }
    } catch (error) {
      if (!(error instanceof StoppedError)) throw error;
      // What a stopped realm leaves behind is not worth finding out.
      if (error.reason !== 'source') this.#discard();
      else this.#isLeaking ||= question.kind === 'functions';
      return { kind: 'stopped', reason: error.reason, detail: error.message };
    }
  }

  /** To be called when there is nothing else to do. */
  async prepare(): Promise<void> {
    this.#spare ??= this.#newScript(await this.#ready());
  }

  async #ready(): Promise<Instance> {
    this.#instance ??= await newInstance(this.#settings.memoryBytes);
    return this.#instance;
  }

  #newScript(instance: Instance): ScriptRealm {
    const realm = new Realm(instance, this.#settings.memoryBytes);
    const guest = realm.install(SCRIPT_CODE);
    const script: ScriptRealm = {
      realm,
      start: realm.method(guest, 'start'),
      resume: realm.method(guest, 'resume'),
      turn: realm.method(guest, 'turn'),
      results: [
        realm.method(guest, 'responseBody'),
        realm.method(guest, 'requestBody'),
        realm.method(guest, 'log'),
      ],
    };
    guest.dispose();
    return script;
  }

  #start({ script, input, timeMs }: Question<'start'>, instance: Instance): FromSandbox {
    const current = this.#spare ?? this.#newScript(instance);
    this.#spare = undefined;
    this.#script = current;
    const { realm } = current;
    realm.limitTime(timeMs);
    const main = realm.compile(script);
    realm.call(current.start, main, realm.text(input));
    return this.#turn(current);
  }

  #resume({ answers }: Question<'resume'>): FromSandbox {
    const current = this.#script;
    if (current === undefined) throw new Error('no script is under way');
    current.realm.call(current.resume, current.realm.text(answers));
    return this.#turn(current);
  }

  #turn({ realm, turn, results }: ScriptRealm): FromSandbox {
    realm.runJobs();
    const text = realm.call(turn);
    if (text !== '') return { kind: 'turn', text, isLarge: this.#isLarge };
    const [response, request, log] = results;
    return {
      kind: 'done',
      response: realm.call(response),
      request: realm.call(request),
      log: realm.call(log),
    };
  }

  #run(
    { realm: id, functions, calls, timeMs }: Question<'functions'>,
    instance: Instance,
  ): FromSandbox {
    let current = this.#functions.get(id);
    if (current === undefined) {
      const realm = new Realm(instance, this.#settings.memoryBytes);
      realm.limitTime(timeMs);
      const guest = realm.install(FUNCTIONS_CODE);
      const add = realm.method(guest, 'add');
      for (const text of functions) realm.call(add, realm.text(text.name), realm.compile(text));
      add.dispose();
      current = { realm, run: realm.method(guest, 'run') };
      guest.dispose();
    }
    this.#functions.delete(id);
    this.#functions.set(id, current);
    const [oldest] = this.#functions.keys();
    if (this.#functions.size > FUNCTION_REALMS_MAX && oldest !== undefined) this.#forget(oldest);
    const { realm, run } = current;
    realm.limitTime(timeMs);
    return { kind: 'results', text: realm.call(run, realm.text(calls)) };
  }

  #forget(id: number): void {
    const current = this.#functions.get(id);
    if (current === undefined) return;
    this.#functions.delete(id);
    this.#dispose(current.realm, [current.run]);
  }

  #end(): void {
    const current = this.#script;
    if (current === undefined) return;
    this.#script = undefined;
    const { realm, start, resume, turn, results } = current;
    this.#dispose(realm, [start, resume, turn, ...results]);
  }

  /** A heap that does not close in peace (a handle left behind) goes with its module. */
  #dispose(realm: Realm, handles: readonly QuickJSHandle[]): void {
    try {
      for (const handle of handles) handle.dispose();
      realm.dispose();
    } catch {
      this.#discard();
      return;
    }
    // Memory of a module only grows; one that had a large script is replaced.
    if ((this.#isLarge || this.#isLeaking) && this.#functions.size === 0) this.#discard();
  }

  get #isLarge(): boolean {
    const bytes = this.#instance?.getWasmMemory().buffer.byteLength ?? 0;
    return bytes >= this.#settings.memoryBytes;
  }

  /** Forgets the module with all its realms; the next question gets a new one. */
  #discard(): void {
    this.#instance = undefined;
    this.#spare = undefined;
    this.#script = undefined;
    this.#functions.clear();
    this.#isLeaking = false;
  }
}
