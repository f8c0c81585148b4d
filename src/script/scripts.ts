/** Procedures and triggers, run turn by turn; functions, run over many rows at once. */
import {
  ITEM_BYTES_MAX,
  PAGE_BYTES_MAX,
  SCRIPT_CALLS_MAX,
  SCRIPT_LOG_CHARACTERS_MAX,
  SCRIPT_ROUND_CALLS_MAX,
  SCRIPT_ROUND_CHARACTERS_MAX,
} from '../base/index.ts';
import type { GuestAnswer } from './guest/guest-calls.ts';
import type { GuestInput } from './guest/guest-context.ts';
import { type Lease, SandboxPool } from './sandbox-pool.ts';
import type { RoundAnswers, ScriptText, ToSandbox } from './sandbox-protocol.ts';
import type { Answer, SandboxThread } from './sandbox-thread.ts';
import { ScriptError, stoppedError, type Thrown, thrownError } from './script-error.ts';

export interface ScriptSettings {
  /** The longest a script runs, its calls included. */
  readonly scriptTimeLimitMs: number;
  /** Heap of one script. */
  readonly scriptMemoryLimit: number;
}

/** A call of a script on its collection, as it says; nothing of it is checked. */
export type ScriptCall = Readonly<Record<string, unknown>> & {
  /** What shall be JSON text; empty where there is none. */
  readonly document: string;
};

export interface CallAnswer extends Omit<GuestAnswer, 'length'> {
  /** JSON text. */
  readonly resource?: string;
}

/** Answers calls in order; may answer the first few only. */
export type AnswerCalls = (
  calls: readonly ScriptCall[],
  worker: ScriptRun,
) => Promise<readonly CallAnswer[]>;

export interface ScriptInput extends Omit<GuestInput, 'limits' | 'seed'> {
  /** JSON list. */
  readonly args: string;
}

export interface ScriptOutcome {
  /** JSON text. */
  readonly responseBody: string;
  readonly requestBody: string;
  readonly log: string;
}

/** The result of one call of a function. */
type FunctionResult =
  | { readonly kind: 'value'; readonly value: unknown }
  | { readonly kind: 'undefined' }
  | { readonly kind: 'error'; readonly message: string };

/** A thread that has not answered by then is stuck where its own clock is not looked at. */
const GRACE_MS = 1000;
/** The share of its time after which a script's calls are no longer accepted, so that it can end in peace. */
const ACCEPT_SHARE = 0.8;

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

  /** A thread for scripts that belong together: their time counts as one. */
  async begin(): Promise<ScriptRun> {
    return new ScriptRun(await this.#pool.lease(), this.#settings);
  }

  /** Functions for one query; `forget` when it is done. */
  functions(functions: readonly ScriptText[]): FunctionRealm {
    return new FunctionRealm(this.#pool, this.#settings, functions, ++this.#realmCount);
  }

  close(): Promise<void> {
    return this.#pool.close();
  }
}

export class ScriptRun {
  readonly #lease: Lease;
  readonly #deadlineMs: number;
  readonly #timeLimitMs: number;

  constructor(lease: Lease, { scriptTimeLimitMs }: ScriptSettings) {
    this.#lease = lease;
    this.#timeLimitMs = scriptTimeLimitMs;
    this.#deadlineMs = performance.now() + scriptTimeLimitMs;
  }

  get thread(): SandboxThread {
    return this.#lease.thread;
  }

  /** Milliseconds; never less than one. */
  get timeLeftMs(): number {
    return Math.max(1, this.#deadlineMs - performance.now());
  }

  /** Throws ScriptError; what `answer` throws ends the script as well. */
  async run(
    script: ScriptText,
    { args, ...input }: ScriptInput,
    answer: AnswerCalls,
  ): Promise<ScriptOutcome> {
    const limits = {
      acceptUntilMs: Date.now() + this.timeLeftMs - (1 - ACCEPT_SHARE) * this.#timeLimitMs,
      callsMax: SCRIPT_CALLS_MAX,
      callsPerRound: SCRIPT_ROUND_CALLS_MAX,
      charactersPerRound: SCRIPT_ROUND_CHARACTERS_MAX,
      documentCharactersMax: ITEM_BYTES_MAX,
      resultCharactersMax: PAGE_BYTES_MAX,
      logCharactersMax: SCRIPT_LOG_CHARACTERS_MAX,
    };
    const seed = [...crypto.getRandomValues(new Uint32Array(4))];
    const whole: GuestInput = { ...input, limits, seed };
    const { thread } = this.#lease;
    try {
      let reply = await this.#ask({
        kind: 'start',
        script: { name: fileName(script.name), source: script.source },
        input: JSON.stringify(whole),
        args,
        timeMs: this.timeLeftMs,
      });
      let answered = 0;
      while (reply.kind === 'round') {
        const calls = callsOf(reply);
        checkCalls(calls, answered);
        const answers = await answer(calls, this);
        answered += answers.length;
        reply = await this.#ask({ kind: 'resume', ...answersOf(answers) });
      }
      if (reply.kind === 'done')
        return { responseBody: reply.response, requestBody: reply.request, log: reply.log };
      throw failureOf(reply);
    } finally {
      thread.tell({ kind: 'end' });
    }
  }

  release(): void {
    this.#lease.release();
  }

  #ask(question: ToSandbox): Promise<Answer> {
    return this.#lease.thread.ask(question, this.timeLeftMs + GRACE_MS);
  }
}

/** Functions of one query in a realm of their own; in a thread of the query's or of the script that asks. */
export class FunctionRealm {
  readonly #pool: SandboxPool;
  readonly #functions: readonly ScriptText[];
  readonly #id: number;
  readonly #timeLimitMs: number;
  #timeMs = 0;
  #thread: SandboxThread | undefined;

  constructor(
    pool: SandboxPool,
    { scriptTimeLimitMs }: ScriptSettings,
    functions: readonly ScriptText[],
    id: number,
  ) {
    this.#pool = pool;
    this.#functions = functions;
    this.#id = id;
    this.#timeLimitMs = scriptTimeLimitMs;
  }

  /** @param calls - each as JSON text, see guest-functions.ts. */
  async run(calls: readonly string[], within?: ScriptRun): Promise<readonly FunctionResult[]> {
    if (within !== undefined) return this.#runIn(within.thread, calls);
    const lease = await this.#pool.lease(this.#thread);
    try {
      return await this.#runIn(lease.thread, calls);
    } finally {
      lease.release();
    }
  }

  forget(): void {
    this.#thread?.tell({ kind: 'forget', realm: this.#id });
  }

  /** Time counts for all calls of the query together. */
  async #runIn(
    thread: SandboxThread,
    calls: readonly string[],
  ): Promise<readonly FunctionResult[]> {
    this.#thread = thread;
    const startedMs = performance.now();
    const timeMs = Math.max(1, this.#timeLimitMs - this.#timeMs);
    const reply = await thread.ask(
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
    if (reply.kind !== 'results') throw failureOf(reply);
    return resultsOf(reply.text, calls.length);
  }
}

/** The guest counts as well, but with objects that a script can change. */
function checkCalls(calls: readonly ScriptCall[], answered: number): void {
  if (answered + calls.length > SCRIPT_CALLS_MAX)
    throw new ScriptError('scriptLimit', 'The script made more calls than it is allowed.');
  if (calls.length > SCRIPT_ROUND_CALLS_MAX) throw brokenGuest();
  let characters = 0;
  for (const { document } of calls) characters += document.length;
  if (calls.length > 1 && characters > SCRIPT_ROUND_CHARACTERS_MAX) throw brokenGuest();
}

function failureOf(reply: Answer): ScriptError {
  if (reply.kind === 'stopped') return stoppedError(reply.reason, reply.detail);
  // It did not answer and was ended, or broke down under the script.
  if (reply.kind === 'lost') return stoppedError('time', '');
  return brokenGuest();
}

function answersOf(answers: readonly CallAnswer[]): RoundAnswers {
  return {
    answers: JSON.stringify(
      answers.map(({ resource, ...answer }) => ({ ...answer, length: resource?.length })),
    ),
    texts: answers.map(({ resource }) => resource ?? '').join(''),
  };
}

/** The calls of a turn; throws where the turn is a failure. */
function callsOf({ text, documents, isLarge }: Answer & { kind: 'round' }): readonly ScriptCall[] {
  const turn = parsed(text) as Partial<Thrown> & { kind?: unknown; calls?: unknown };
  switch (turn?.kind) {
    case 'calls':
      if (!Array.isArray(turn.calls)) throw brokenGuest();
      return withDocuments(turn.calls, documents);
    case 'failed':
      // Where there is no memory for an error, null is thrown.
      if (isLarge && turn.name === '' && turn.message === 'null') throw stoppedError('memory', '');
      throw thrownError({
        name: String(turn.name),
        message: String(turn.message),
        stack: String(turn.stack),
        number: Number.isInteger(turn.number) ? Number(turn.number) : 0,
        log: String(turn.log),
      });
    case 'tooLarge':
      throw new ScriptError('tooLarge', 'The result of the script is too large.');
    default:
      throw brokenGuest();
  }
}

/** @param documents - of all calls, each as long as its call says. */
function withDocuments(calls: readonly unknown[], documents: string): readonly ScriptCall[] {
  let read = 0;
  return calls.map((call) => {
    if (typeof call !== 'object' || call === null) throw brokenGuest();
    const { length } = call as { readonly length?: unknown };
    if (!Number.isInteger(length)) throw brokenGuest();
    const document = documents.slice(read, read + Number(length));
    read += document.length;
    return { ...call, document };
  });
}

function resultsOf(text: string, count: number): readonly FunctionResult[] {
  const list = parsed(text);
  if (!Array.isArray(list) || list.length !== count) throw brokenGuest();
  return list.map((entry: unknown): FunctionResult => {
    const [kind, value] = entry as readonly unknown[];
    if (kind === 0) return { kind: 'value', value };
    if (kind === 1) return { kind: 'undefined' };
    return { kind: 'error', message: String(value).slice(0, 1024) };
  });
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw brokenGuest();
  }
}

/** The script has changed what its environment is made of. */
function brokenGuest(): ScriptError {
  return new ScriptError('scriptFailed', 'The script broke the objects it runs with.');
}

/** Stack traces name the script; its id may hold anything. */
function fileName(name: string): string {
  return name.replace(/[^\w.$-]/g, '_').slice(0, 64);
}
