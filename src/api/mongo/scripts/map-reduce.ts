/** The functions of mapReduce over a stream of documents: pairs by key, and one value for each key at the end. */
import { type Bson, BsonCode, type BsonDocument } from '../../../value/index.ts';
import { BsonMap } from '../aggregate/bson-set.ts';
import { Row, type Rows } from '../documents/rows.ts';
import { MongoError } from '../errors.ts';
import type { ScriptKind } from './guest/guest-kinds.ts';
import type { ScriptCalls } from './script-calls.ts';
import { receivedOf, sentOf } from './script-values.ts';

/** Values of a key that wait for the reduction of it; its result is one of the next values. */
const VALUES_MAX = 1000;
/** Characters of all values together; the limit of a group. */
const VALUES_CHARACTERS_MAX = 100 * 1024 * 1024;
/** Documents of one batch of results. */
const RESULTS_AT_ONCE = 1000;

interface Sources {
  readonly map: string;
  readonly reduce: string;
  readonly finalize: string | undefined;
  readonly scope: BsonDocument | undefined;
}

/** The values of one key, each as JSON text. */
interface Values {
  texts: string[];
}

export class MapReduce {
  readonly #calls: ScriptCalls;
  readonly #map: string;
  readonly #reduce: string;
  readonly #finalize: string | undefined;
  readonly #groups = new BsonMap<Values>();
  #characters = 0;

  constructor(calls: ScriptCalls, { map, reduce, finalize, scope }: Sources) {
    this.#calls = calls;
    const variables = scope && JSON.stringify(sentOf(scope));
    const define = (kind: ScriptKind, source: string): string =>
      calls.define({ kind, source, scope: variables });
    this.#map = define('map', map);
    this.#reduce = define('reduce', reduce);
    this.#finalize = finalize === undefined ? undefined : define('finalize', finalize);
  }

  async *run(rows: Rows): Rows {
    try {
      for await (const batch of rows) {
        const documents = batch.map(({ document }) => JSON.stringify(sentOf(document)));
        for (const pairs of await this.#calls.callAll(this.#map, documents)) this.#add(pairs);
        await this.#reduceAll(this.#characters > VALUES_CHARACTERS_MAX / 2 ? 2 : VALUES_MAX);
        if (this.#characters > VALUES_CHARACTERS_MAX)
          throw new MongoError(
            'QueryExceededMemoryLimitNoDiskUseAllowed',
            'Exceeded memory limit for $group, but did not opt in to external sorting.',
          );
      }
      await this.#reduceAll(2);
      yield* this.#results();
    } finally {
      this.#calls.forget();
    }
  }

  /** What a key has after another value is added to the one it has. */
  async reduced(key: Bson, values: readonly Bson[]): Promise<Bson> {
    const text = JSON.stringify(sentOf(key));
    const args = `${text},${JSON.stringify(values.map(sentOf))}`;
    const [made] = await this.#calls.callAll(this.#reduce, [args]);
    const [final] = await this.#finalized([`${text},${textOf(made)}`], [made]);
    return receivedOf(final);
  }

  #add(pairs: unknown): void {
    if (!Array.isArray(pairs)) return;
    for (const [sentKey, sentValue] of pairs as readonly (readonly unknown[])[]) {
      const key = receivedOf(sentKey);
      const text = textOf(sentValue);
      this.#characters += text.length;
      const values = this.#groups.get(key);
      if (values === undefined) this.#groups.set(key, { texts: [text] });
      else values.texts.push(text);
    }
  }

  /** Reduces the keys that have so many values; MongoDB does not reduce a single one either. */
  async #reduceAll(least: number): Promise<void> {
    const waiting = [...this.#groups.entries()].filter(({ value }) => value.texts.length >= least);
    const results = await this.#calls.callAll(
      this.#reduce,
      waiting.map(({ key, value }) => `${JSON.stringify(sentOf(key))},[${value.texts.join(',')}]`),
    );
    for (const [at, { value }] of waiting.entries()) {
      for (const text of value.texts) this.#characters -= text.length;
      const text = textOf(results[at]);
      this.#characters += text.length;
      value.texts = [text];
    }
  }

  async *#results(): Rows {
    const entries = [...this.#groups.entries()];
    for (let at = 0; at < entries.length; at += RESULTS_AT_ONCE) {
      const part = entries.slice(at, at + RESULTS_AT_ONCE);
      const values = await this.#finalized(
        part.map(({ key, value }) => `${JSON.stringify(sentOf(key))},${value.texts[0]}`),
        part.map(({ value }) => JSON.parse(value.texts[0] as string)),
      );
      yield part.map(({ key }, index) =>
        Row.of(
          new Map<string, Bson>([
            ['_id', key],
            ['value', receivedOf(values[index])],
          ]),
        ),
      );
    }
  }

  async #finalized(
    args: readonly string[],
    values: readonly unknown[],
  ): Promise<readonly unknown[]> {
    return this.#finalize === undefined ? values : this.#calls.callAll(this.#finalize, args);
  }
}

function textOf(value: unknown): string {
  return JSON.stringify(value ?? (value === null ? null : sentOf(undefined)));
}

/** The text of a function in a command. */
export function scriptIn(value: Bson | undefined): string | undefined {
  return value instanceof BsonCode ? value.source : typeof value === 'string' ? value : undefined;
}
