/** `$where`: functions of clients in the sandbox, over a batch of documents at once. */
import type { Service } from '../../../service/index.ts';
import {
  type Bson,
  type BsonDocument,
  BsonSymbol,
  Double,
  Extended,
  isArray,
  isDocument,
} from '../../../value/index.ts';
import { MongoError } from '../errors.ts';
import type { WhereScript } from '../query/filter.ts';
import type { Rows } from './rows.ts';

export type Scripts = Service['scripts'];

/** The rows, after all scripts have answered for them. */
export async function* decided(
  rows: Rows,
  scripts: readonly WhereScript[],
  sandbox: Scripts,
): Rows {
  const functions = scripts.map(({ source }, at) => ({
    name: `where${at}`,
    source: wrapped(source),
  }));
  const realm = sandbox.functions(functions);
  try {
    for await (const batch of rows) {
      for (const [at, script] of scripts.entries()) {
        const calls = batch.map(
          ({ document }) => `["where${at}",0,${JSON.stringify(plain(document))}]`,
        );
        const results = await realm.run(calls);
        for (const [row, result] of results.entries()) {
          if (result.kind === 'error') throw new MongoError('JSInterpreterFailure', result.message);
          const { document } = batch[row] as (typeof batch)[number];
          script.answers.set(document, result.kind === 'value' && result.value === true);
        }
      }
      yield batch;
    }
  } finally {
    realm.forget();
  }
}

/** An expression, statements with a return, or a whole function. */
function wrapped(source: string): string {
  const text = source.trim().replace(/;+$/, '');
  const body = /^function\b/.test(text)
    ? `return (${text}).call(this);`
    : /\breturn\b/.test(text)
      ? `${text};`
      : `return (${text});`;
  return `function (sent) {
  const revive = (value) => {
    if (value === null || typeof value !== 'object') return value;
    if (Array.isArray(value)) return value.map(revive);
    if (typeof value.$date === 'number') return new Date(value.$date);
    const made = {};
    for (const name of Object.keys(value)) made[name] = revive(value[name]);
    return made;
  };
  const obj = revive(sent);
  return Boolean((function () { ${body} }).call(obj));
}`;
}

/** Numbers are numbers, dates are dates; other types are their texts. */
function plain(value: Bson): unknown {
  if (value === null || typeof value === 'string' || typeof value === 'boolean') return value;
  if (typeof value === 'number' || typeof value === 'bigint') return Number(value);
  if (value instanceof Double) return value.value;
  if (isArray(value)) return value.map(plain);
  if (isDocument(value)) return plainDocument(value);
  if (value instanceof BsonSymbol) return value.text;
  return value instanceof Extended ? plainExtended(value) : null;
}

function plainDocument(document: BsonDocument): Record<string, unknown> {
  return Object.fromEntries([...document].map(([name, value]) => [name, plain(value)]));
}

function plainExtended({ payload }: Extended): unknown {
  switch (payload.kind) {
    case 'date':
      return { $date: payload.ms };
    case 'objectId':
      return { str: Buffer.from(payload.bytes).toString('hex') };
    case 'decimal':
      return Number(payload.digits);
    default:
      return null;
  }
}
