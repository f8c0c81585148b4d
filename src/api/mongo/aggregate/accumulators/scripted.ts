/**
 * `$accumulator`: functions in JavaScript over the documents of a group. The sandbox takes the arguments of a batch of
 * documents and returns the state, which is kept as it came until the last batch.
 */
import { type Bson, bsonTypeOf, isArray, isDocument } from '../../../../value/index.ts';
import { printBson } from '../../bson/print.ts';
import { MongoError } from '../../errors.ts';
import { receivedOf, sentOf } from '../../scripts/script-values.ts';
import { constant, constantOf, type Evaluate, type Scope } from '../expressions/scope.ts';
import { sourceIn } from '../expressions/scripts.ts';
import type { Accumulator } from './numbers.ts';
import type { AccumulatorSpec } from './parse.ts';

/** Characters that the states of all groups may have together; the limit of a group. */
const STATES_MAX = 100 * 1024 * 1024;

type Field = 'init' | 'accumulate' | 'merge' | 'finalize';

interface Parsed {
  readonly sources: Partial<Record<Field, string>>;
  readonly initArgs: Evaluate;
  readonly accumulateArgs: Evaluate;
}

export function parseScriptAccumulator(argument: Bson, scope: Scope): AccumulatorSpec {
  const { scripts } = scope.context;
  if (scripts === undefined)
    throw new MongoError('BadValue', '$accumulator is not allowed in this context');
  const { sources, initArgs, accumulateArgs } = parseFields(argument, scope);
  const name = scripts.define({
    kind: 'accumulate',
    source: {
      init: sources.init as string,
      accumulate: sources.accumulate as string,
      finalize: sources.finalize,
    },
  });
  const live = new Set<ScriptAccumulator>();
  return {
    argument: accumulateArgs,
    start(frame) {
      const made = new ScriptAccumulator(initArgs(frame));
      live.add(made);
      return made;
    },
    async runScripts(isLast) {
      const waiting = [...live].filter((each) => isLast || each.isWaiting);
      const results = await scripts.callAll(
        name,
        waiting.map((each) => each.take(isLast)),
      );
      for (const [at, each] of waiting.entries()) each.keep(results[at], isLast);
      let characters = 0;
      for (const each of live) characters += each.characters;
      if (characters > STATES_MAX)
        throw new MongoError(
          'QueryExceededMemoryLimitNoDiskUseAllowed',
          'Exceeded memory limit for $group, but did not opt in to external sorting.',
        );
      if (isLast) live.clear();
    },
  };
}

class ScriptAccumulator implements Accumulator {
  /** JSON text of the state, or of the arguments of `init`. */
  #state: string;
  #isStarted = false;
  #waiting: unknown[] = [];
  #result: Bson | undefined;

  constructor(initArgs: Bson | undefined) {
    if (!isArray(initArgs))
      throw new MongoError(
        'Location4544711',
        `$accumulator initArgs must evaluate to an array: ${initArgs === undefined ? 'MISSING' : printBson(initArgs)}`,
      );
    this.#state = JSON.stringify(sentOf(initArgs));
  }

  get isWaiting(): boolean {
    return this.#waiting.length > 0;
  }

  get characters(): number {
    return this.#state.length;
  }

  add(args: Bson | undefined): void {
    if (!isArray(args))
      throw new MongoError(
        'Location4544712',
        `$accumulator accumulateArgs must evaluate to an array: ${args === undefined ? 'MISSING' : printBson(args)}`,
      );
    this.#waiting.push(sentOf(args));
  }

  /** The arguments of the next call, as JSON text. */
  take(isLast: boolean): string {
    const calls = JSON.stringify(this.#waiting);
    this.#waiting = [];
    return `[${this.#isStarted},${this.#state}],${calls},${isLast}`;
  }

  keep(result: unknown, isLast: boolean): void {
    this.#isStarted = true;
    if (isLast) this.#result = receivedOf(result);
    else this.#state = JSON.stringify(result ?? { $: 'undefined', v: 1 });
  }

  result(): Bson | undefined {
    return this.#result;
  }
}

function parseFields(argument: Bson, scope: Scope): Parsed {
  if (!isDocument(argument))
    throw new MongoError(
      'Location4544703',
      `$accumulator expects an object as an argument; found: ${bsonTypeOf(argument)}`,
    );
  const sources: Partial<Record<Field, string>> = {};
  let initArgs: Evaluate = constant([]);
  let accumulateArgs: Evaluate | undefined;
  for (const [name, value] of argument)
    switch (name) {
      case 'init':
      case 'accumulate':
      case 'merge':
      case 'finalize':
        sources[name] = parseSource(name, value, scope);
        break;
      case 'initArgs':
        initArgs = scope.compile(value);
        break;
      case 'accumulateArgs':
        accumulateArgs = scope.compile(value);
        break;
      case 'lang':
        checkLanguage(value);
        break;
      default:
        throw new MongoError('Location4544706', `$accumulator got an unexpected field: ${name}`);
    }
  needed('Location4544707', 'init', sources.init);
  needed('Location4544708', 'accumulate', sources.accumulate);
  needed('Location4544709', 'merge', sources.merge);
  needed('Location4544710', 'accumulateArgs', accumulateArgs);
  return { sources, initArgs, accumulateArgs: accumulateArgs as Evaluate };
}

function parseSource(name: Field, sent: Bson, scope: Scope): string {
  const known = constantOf(scope.compile(sent));
  if (known === undefined)
    throw new MongoError('Location4544701', `$accumulator '${name}' must be a constant`);
  const source = sourceIn(known.value);
  if (source === undefined)
    throw new MongoError(
      'Location4544702',
      `$accumulator '${name}' must be a String or Code, but found type '${known.value === undefined ? 'missing' : bsonTypeOf(known.value)}'`,
    );
  return source;
}

function checkLanguage(sent: Bson): void {
  if (typeof sent !== 'string')
    throw new MongoError(
      'Location4544704',
      `$accumulator lang must be a string; found: ${bsonTypeOf(sent)}`,
    );
  if (sent !== 'js')
    throw new MongoError('Location4544705', "$accumulator only supports lang: 'js'");
}

function needed(code: `Location${number}`, name: string, value: unknown): void {
  if (value === undefined || value === '')
    throw new MongoError(code, `$accumulator missing required argument '${name}'`);
}
