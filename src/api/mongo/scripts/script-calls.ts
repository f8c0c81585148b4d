/**
 * The functions of clients in one command. Expressions are evaluated at once and the sandbox answers later, so the
 * documents of a batch are prepared: every expression with a function is tried until all its calls are answered, and
 * the answers are kept with the document. The evaluation that counts finds them there.
 */

import { CallTrials, callBatches, type FunctionRealm, ScriptError } from '../../../script/index.ts';
import type { Service } from '../../../service/index.ts';
import type { Bson, BsonDocument } from '../../../value/index.ts';
import type { Meter } from '../documents/meter.ts';
import type { Rows } from '../documents/rows.ts';
import { MongoError } from '../errors.ts';
import { type ClientScript, sourceOf } from './script-source.ts';
import { receivedOf } from './script-values.ts';

type Result = Awaited<ReturnType<FunctionRealm['run']>>[number];

/** An expression with functions, evaluated for one document. */
export type Scripted = (document: BsonDocument) => unknown;

/** Functions of one command. */
const FUNCTIONS_MAX = 1000;

export class ScriptCalls {
  /** Undefined where nothing can run: a decision in a partition, which must not wait. */
  readonly #sandbox: Service['scripts'] | undefined;
  readonly #meter: Meter | undefined;
  readonly #trials: CallTrials<Result>;
  readonly #texts: { readonly name: string; readonly source: string }[] = [];
  readonly #answers = new WeakMap<BsonDocument, Map<string, Result>>();
  #realm: FunctionRealm | undefined;
  /** Where expressions with functions are noted while they are compiled. */
  #found: Scripted[] = [];
  /** Tells equal calls of two documents apart: a function may throw dice. */
  #documents = 0;
  #prepared: { readonly document: BsonDocument; readonly number: number } | undefined;

  constructor(sandbox?: Service['scripts'], meter?: Meter) {
    this.#sandbox = sandbox;
    this.#meter = meter;
    this.#trials = new CallTrials((calls) => this.#run(calls), {
      tooDeep: () => failed('The functions depend on each other too deeply'),
      unforeseen: () => failed('A function was called where it cannot run'),
    });
  }

  get isRunnable(): boolean {
    return this.#sandbox !== undefined;
  }

  /** Makes a function known; returns its name for calls. */
  define(script: ClientScript): string {
    if (this.#texts.length >= FUNCTIONS_MAX)
      throw new MongoError('BadValue', `A command has at most ${FUNCTIONS_MAX} functions`);
    const name = `f${this.#texts.length}`;
    this.#texts.push({ name, source: sourceOf(script) });
    // The realm knows the functions it was made with.
    this.forget();
    this.#realm = undefined;
    return name;
  }

  /** How many functions were defined: an expression that adds some is scripted. */
  get count(): number {
    return this.#texts.length;
  }

  /** Notes an expression, so that whoever compiles what it is part of prepares documents for it. */
  note(expression: Scripted): void {
    this.#found.push(expression);
  }

  /** The expressions that were noted meanwhile. */
  collect<T>(compile: () => T): { readonly made: T; readonly found: readonly Scripted[] } {
    const outer = this.#found;
    this.#found = [];
    try {
      const made = compile();
      return { made, found: this.#found };
    } finally {
      this.#found = outer;
    }
  }

  /** The result of a call in an expression of this document; undefined where it is to be tried again. */
  valueOf(document: BsonDocument, name: string, args: string): Bson | undefined {
    const result = this.#resultOf(document, `["${name}",0,${args}`);
    if (result === undefined) return undefined;
    if (result.kind === 'error') throw failed(result.message);
    return receivedOf(result.kind === 'value' ? result.value : undefined);
  }

  #resultOf(document: BsonDocument, call: string): Result | undefined {
    const known = this.#answers.get(document)?.get(call);
    if (known !== undefined) return known;
    if (!this.#trials.isTrying) throw failed('A function was called where it cannot run');
    // The number is an argument that no function looks at.
    const result = this.#trials.resultOf(`${call},${this.#prepared?.number ?? 0}]`);
    if (result !== undefined) this.#keep(document, call, result);
    return result;
  }

  #keep(document: BsonDocument, call: string, result: Result): void {
    const kept = this.#answers.get(document);
    if (kept === undefined) this.#answers.set(document, new Map([[call, result]]));
    else kept.set(call, result);
  }

  /** The rows, each batch after all functions of these expressions have answered for it. */
  async *prepared(rows: Rows, expressions: readonly Scripted[]): Rows {
    try {
      for await (const batch of rows) {
        await this.prepare(
          batch.map(({ document }) => document),
          expressions,
        );
        yield batch;
      }
    } finally {
      this.forget();
    }
  }

  async prepare(
    documents: readonly BsonDocument[],
    expressions: readonly Scripted[],
  ): Promise<void> {
    const trials = documents.map((document) => {
      const number = this.#documents++;
      return () => {
        this.#prepared = { document, number };
        for (const expression of expressions) attempt(expression, document);
      };
    });
    await this.#trials.complete(trials);
  }

  /** Calls outside of expressions, in order; each is the JSON text of its arguments. */
  async callAll(name: string, args: readonly string[]): Promise<readonly unknown[]> {
    const found: unknown[] = [];
    for (const batch of callBatches(args.map((list) => `["${name}",0,${list}]`)))
      for (const result of await this.#run(batch)) {
        if (result.kind === 'error') throw failed(result.message);
        found.push(result.kind === 'value' ? result.value : undefined);
      }
    return found;
  }

  /** Lets the sandbox forget the functions; the next call brings them there again. */
  forget(): void {
    this.#realm?.forget();
  }

  async #run(calls: readonly string[]): Promise<readonly Result[]> {
    this.#meter?.add({ charge: 0 });
    const leftMs = (this.#meter?.deadlineMs ?? Number.POSITIVE_INFINITY) - performance.now();
    this.#realm ??= (this.#sandbox as Service['scripts']).functions(this.#texts, true);
    try {
      return await this.#realm.run(calls, undefined, Math.max(1, leftMs));
    } catch (error) {
      if (!(error instanceof ScriptError)) throw error;
      // A script that used up the time of its command is not at fault itself.
      this.#meter?.add({ charge: 0 });
      throw failed(error.message);
    }
  }
}

/** What was compiled, and the expressions in it that call functions. */
export function collectScripted<T>(
  { scripts }: { readonly scripts?: ScriptCalls | undefined },
  compile: () => T,
): { readonly made: T; readonly found: readonly Scripted[] } {
  return scripts?.collect(compile) ?? { made: compile(), found: [] };
}

/** What fails here fails again in the evaluation that counts, if that comes to it. */
function attempt(expression: Scripted, document: BsonDocument): void {
  try {
    expression(document);
  } catch (error) {
    if (!(error instanceof Error)) throw error;
  }
}

function failed(message: string): MongoError {
  return new MongoError('JSInterpreterFailure', message);
}
