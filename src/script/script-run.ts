/** Runs procedures and triggers in a sandbox thread, round by round. */
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
import type { Lease } from './sandbox-pool.ts';
import type { RoundAnswers, SandboxRequest, ScriptText } from './sandbox-protocol.ts';
import type { SandboxThread, ThreadResponse } from './sandbox-thread.ts';
import {
  brokenGuest,
  parseGuestText,
  responseError,
  ScriptError,
  stoppedError,
  type Thrown,
  thrownError,
} from './script-error.ts';
import { GRACE_MS, type ScriptSettings } from './script-settings.ts';

/** A call of a script on its collection. Nothing of it is checked. */
export type ScriptCall = Readonly<Record<string, unknown>> & {
  /** A text that should be JSON; empty where there is none. */
  readonly document: string;
};

export interface CallAnswer extends Omit<GuestAnswer, 'length'> {
  /** JSON text. */
  readonly resource?: string;
}

/** Answers calls in order; it may answer only the first few. */
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

/** The share of its time after which a script's calls are refused, so that it can end in order. */
const ACCEPT_SHARE = 0.8;

/** The lease of a thread for scripts that belong together: their time counts as one. */
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

  /** Never less than one. */
  get timeLeftMs(): number {
    return Math.max(1, this.#deadlineMs - performance.now());
  }

  /** Throws ScriptError; an error of `answer` ends the script as well. */
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
      let response = await this.#request({
        kind: 'start',
        script: { name: fileName(script.name), source: script.source },
        input: JSON.stringify(whole),
        args,
        timeMs: this.timeLeftMs,
      });
      let answered = 0;
      while (response.kind === 'round') {
        const calls = callsOf(response);
        checkCalls(calls, answered);
        const answers = await answer(calls, this);
        answered += answers.length;
        response = await this.#request({ kind: 'resume', ...answersOf(answers) });
      }
      if (response.kind === 'done')
        return {
          responseBody: response.response,
          requestBody: response.request,
          log: response.log,
        };
      throw responseError(response);
    } finally {
      thread.post({ kind: 'end' });
    }
  }

  release(): void {
    this.#lease.release();
  }

  #request(request: SandboxRequest): Promise<ThreadResponse> {
    return this.#lease.thread.request(request, this.timeLeftMs + GRACE_MS);
  }
}

/** The guest checks these bounds as well, but with objects that a script can change. */
function checkCalls(calls: readonly ScriptCall[], answered: number): void {
  if (answered + calls.length > SCRIPT_CALLS_MAX)
    throw new ScriptError('scriptLimit', 'The script made more calls than it is allowed.');
  if (calls.length > SCRIPT_ROUND_CALLS_MAX) throw brokenGuest();
  let characters = 0;
  for (const { document } of calls) characters += document.length;
  if (calls.length > 1 && characters > SCRIPT_ROUND_CHARACTERS_MAX) throw brokenGuest();
}

function answersOf(answers: readonly CallAnswer[]): RoundAnswers {
  return {
    answers: JSON.stringify(
      answers.map(({ resource, ...answer }) => ({ ...answer, length: resource?.length })),
    ),
    texts: answers.map(({ resource }) => resource ?? '').join(''),
  };
}

/** The calls of a round; throws where the round ends with a failure. */
function callsOf({
  text,
  documents,
  isLarge,
}: ThreadResponse & { kind: 'round' }): readonly ScriptCall[] {
  const round = parseGuestText(text) as Partial<Thrown> & { kind?: unknown; calls?: unknown };
  switch (round?.kind) {
    case 'calls':
      if (!Array.isArray(round.calls)) throw brokenGuest();
      return withDocuments(round.calls, documents);
    case 'failed':
      // The interpreter throws null where it has no memory for an error.
      if (isLarge && round.name === '' && round.message === 'null')
        throw stoppedError('memory', '');
      throw thrownError({
        name: String(round.name),
        message: String(round.message),
        stack: String(round.stack),
        number: Number.isInteger(round.number) ? Number(round.number) : 0,
        log: String(round.log),
      });
    case 'tooLarge':
      throw new ScriptError('tooLarge', 'The result of the script is too large.');
    default:
      throw brokenGuest();
  }
}

/** @param documents - of all calls, each with the length that its call says. */
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

/** The name of the script in stack traces; its id may have any characters. */
function fileName(name: string): string {
  return name.replace(/[^\w.$-]/g, '_').slice(0, 64);
}
