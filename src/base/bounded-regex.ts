/**
 * Regular expressions of clients, bounded in time. V8 backtracks, which takes for ever on some patterns and texts.
 *
 * V8 also has an engine that is linear in the length of the text. It is behind a flag, and V8 switches to it after
 * much backtracking (`boundRegularExpressions` sets both flags; a program calls it once at start). It does not
 * support back references, lookaround, large counts and the flag `i`. A match that could take many steps is therefore
 * run with a timeout, which costs half a millisecond, and is refused when the time is up.
 */
import { setFlagsFromString } from 'node:v8';
import { type Context, createContext, Script } from 'node:vm';
import { DomainError } from './errors.ts';
import { regexTimeoutMs, spend } from './evaluation-budget.ts';

/** Steps that may run without a timeout: about a millisecond, a few in the slowest engine. */
const UNTIMED_STEPS = 200_000;
/** Time limit of one match outside of any budget. All other requests wait for it. */
const TIME_MAX_MS = 100;
/** Steps charged for a match with a timeout: the cost of the timeout and of the match. */
const TIMED_STEPS = 100_000;

export function boundRegularExpressions(): void {
  setFlagsFromString('--enable-experimental-regexp-engine');
  setFlagsFromString('--enable-experimental-regexp-engine-on-excessive-backtracks');
}

export class BoundedRegex {
  readonly #regex: RegExp;
  /** The same pattern with the flag `g`, for all matches of a text. */
  readonly #global: RegExp;
  readonly #isLinear: boolean;
  /** The exponent of the worst case in the length of the text; Infinity for nested repetitions. */
  readonly #degree: number;

  /** Throws a SyntaxError. `flags` is a subset of imsu. */
  constructor(source: string, flags: string) {
    this.#regex = new RegExp(source, flags);
    this.#global = new RegExp(source, `${flags}g`);
    this.#isLinear = isLinear(source, flags);
    this.#degree = degreeOf(source);
  }

  test(text: string): boolean {
    return this.#run(text, () => this.#regex.test(text));
  }

  exec(text: string): RegExpExecArray | null {
    return this.#run(text, () => this.#regex.exec(text));
  }

  matchAll(text: string): readonly RegExpExecArray[] {
    return this.#run(text, () => [...text.matchAll(this.#global)]);
  }

  #run<T>(text: string, match: () => T): T {
    const { length } = this.#regex.source;
    const steps = this.#isLinear ? length * text.length : (text.length + 1) ** this.#degree;
    if (steps <= UNTIMED_STEPS) {
      spend(1 + steps);
      return match();
    }
    const timeoutMs = regexTimeoutMs() ?? TIME_MAX_MS;
    spend(TIMED_STEPS);
    return runTimed(match, timeoutMs);
  }
}

/** Also false where `boundRegularExpressions` was not called: the flag `l` is then a syntax error. */
function isLinear(source: string, flags: string): boolean {
  try {
    new RegExp(source, `${flags}l`);
    return true;
  } catch {
    return false;
  }
}

/**
 * The start of the match counts one, and every repetition one. Repetitions and alternatives inside a repetition
 * multiply without bound.
 */
function degreeOf(source: string): number {
  let degree = 1;
  /** For every open group, whether it contains a repetition or an alternative. */
  const groups: boolean[] = [];
  let closedWithChoice = false;
  for (const [part] of source.matchAll(PARTS)) {
    const isQuantifier = /^[*+?{]/.test(part);
    if (isQuantifier) {
      if (closedWithChoice) return Number.POSITIVE_INFINITY;
      degree++;
    }
    if (isQuantifier || part === '|') {
      if (groups.length > 0) groups[groups.length - 1] = true;
    } else if (part.startsWith('(')) groups.push(false);
    closedWithChoice = false;
    if (part !== ')') continue;
    closedWithChoice = groups.pop() === true;
    if (closedWithChoice && groups.length > 0) groups[groups.length - 1] = true;
  }
  return degree;
}

/** Tokens: escapes, classes, group openings with their kind, counts, single characters. */
const PARTS =
  /\\[\s\S]|\[(?:\\[\s\S]|[^\]\\])*\]|\((?:\?(?:[:=!]|<[=!]|<[^>]*>))?|\{\d+,?\d*\}|[\s\S]/g;

interface TimedRunner {
  readonly holder: { match: (() => unknown) | undefined };
  readonly context: Context;
  readonly script: Script;
}

/** Created at first use, because few programs need it. It holds nothing between two matches. */
let timedRunner: TimedRunner | undefined;

function newTimedRunner(): TimedRunner {
  const holder = { match: undefined };
  return { holder, context: createContext(holder), script: new Script('match()') };
}

function runTimed<T>(match: () => T, timeout: number): T {
  timedRunner ??= newTimedRunner();
  const { holder, context, script } = timedRunner;
  holder.match = match;
  try {
    return script.runInContext(context, { timeout }) as T;
  } catch (error) {
    if ((error as { code?: unknown }).code !== 'ERR_SCRIPT_EXECUTION_TIMEOUT') throw error;
    throw new DomainError(
      'invalidInput',
      'A regular expression takes too long to match; make it simpler.',
    );
  } finally {
    holder.match = undefined;
  }
}
