/**
 * Regular expressions of clients, bounded in time. V8 backtracks, which takes for ever on some patterns and texts.
 *
 * Most patterns can be matched in time linear in the text, by an engine that V8 has behind a flag and goes over to by
 * itself after much backtracking (`boundRegularExpressions` sets the flags; a program calls it once when it starts).
 * It does not know back references, lookaround, large counts and the flag `i`. Whatever could take many steps is
 * therefore run with a watch on the clock, which costs half a millisecond, and refused when the time is up.
 */
import { setFlagsFromString } from 'node:v8';
import { type Context, createContext, Script } from 'node:vm';
import { DomainError } from './errors.ts';
import { regexWatchMs, spend } from './evaluation-budget.ts';

/** Steps that may be taken unwatched: a millisecond, in the slowest engine some. */
const FREE_STEPS = 200_000;
/** Of one match, where no budget says otherwise. Everybody waits as long. */
const TIME_MAX_MS = 100;
/** What a watch costs, and the match that needs it. */
const WATCH_STEPS = 100_000;

export function boundRegularExpressions(): void {
  setFlagsFromString('--enable-experimental-regexp-engine');
  setFlagsFromString('--enable-experimental-regexp-engine-on-excessive-backtracks');
}

export class BoundedRegex {
  readonly #regex: RegExp;
  /** For all matches of a text. */
  readonly #everywhere: RegExp;
  readonly #isLinear: boolean;
  /** How often a match can begin anew at every place of the text; Infinity for nests of repetitions. */
  readonly #degree: number;

  /** Throws a SyntaxError. `flags` are of imsu. */
  constructor(source: string, flags: string) {
    this.#regex = new RegExp(source, flags);
    this.#everywhere = new RegExp(source, `${flags}g`);
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
    return this.#run(text, () => [...text.matchAll(this.#everywhere)]);
  }

  #run<T>(text: string, match: () => T): T {
    const { length } = this.#regex.source;
    const steps = this.#isLinear ? length * text.length : (text.length + 1) ** this.#degree;
    if (steps <= FREE_STEPS) {
      spend(1 + steps);
      return match();
    }
    const watchMs = regexWatchMs() ?? TIME_MAX_MS;
    spend(WATCH_STEPS);
    return watched(match, watchMs);
  }
}

/** False as well where the flags are not set. */
function isLinear(source: string, flags: string): boolean {
  try {
    new RegExp(source, `${flags}l`);
    return true;
  } catch {
    return false;
  }
}

/**
 * One for the place where the match begins, one for every repetition. Repetitions and alternatives within a repetition
 * multiply without bound.
 */
function degreeOf(source: string): number {
  let degree = 1;
  /** For every group that is open, whether it holds a choice. */
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

/** Escapes, classes, openings of groups with what they are for, counts, single characters. */
const PARTS =
  /\\[\s\S]|\[(?:\\[\s\S]|[^\]\\])*\]|\((?:\?(?:[:=!]|<[=!]|<[^>]*>))?|\{\d+,?\d*\}|[\s\S]/g;

interface Watch {
  readonly holder: { match: (() => unknown) | undefined };
  readonly context: Context;
  readonly script: Script;
}

/** Made when first needed: few programs ever do. It holds nothing between two matches. */
let watch: Watch | undefined;

function newWatch(): Watch {
  const holder = { match: undefined };
  return { holder, context: createContext(holder), script: new Script('match()') };
}

function watched<T>(match: () => T, timeout: number): T {
  watch ??= newWatch();
  const { holder, context, script } = watch;
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
