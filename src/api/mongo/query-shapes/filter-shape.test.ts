// Goal: filters of one shape are found to be, and others not. Method: pairs of filters, for plans and for queries.
import { expect, it } from 'vitest';
import type { Bson, BsonDocument } from '../../../value/index.ts';
import { filterShape } from './filter-shape.ts';

type Sent = Readonly<Record<string, unknown>>;

function bson(value: unknown): Bson {
  if (Array.isArray(value)) return value.map(bson);
  if (typeof value !== 'object' || value === null) return value as Bson;
  return new Map(Object.entries(value).map(([name, inner]) => [name, bson(inner)]));
}

function isSame(a: Sent, b: Sent, kind: 'plan' | 'query'): boolean {
  const shape = (sent: Sent): string =>
    JSON.stringify(filterShape(bson(sent) as BsonDocument, kind));
  return shape(a) === shape(b);
}

it.each([
  [{ a: 1 }, { a: { $eq: 2 } }, true, true],
  [{ a: 1, b: 2 }, { $and: [{ a: 1 }, { b: 2 }] }, true, true],
  [{ a: 1, b: 2 }, { b: 2, a: 1 }, true, false],
  [{ a: 1 }, { a: 'x' }, true, false],
  [{ a: { $type: 'int' } }, { a: { $type: ['string'] } }, true, false],
  [{ a: { $in: [1] } }, { a: { $in: [1, 2] } }, false, true],
  [{ $expr: { $gt: ['$a', 1] } }, { $expr: { $lt: ['$a', 1] } }, true, false],
  [{ a: { $exists: true } }, { a: { $exists: false } }, false, false],
  [{ a: { $gt: 1 } }, { a: { $lt: 1 } }, false, false],
  [{ $or: [{ a: 1 }] }, { $nor: [{ a: 1 }] }, false, false],
  [{ a: { $elemMatch: { $gt: 1 } } }, { a: { $elemMatch: { $gt: 2 } } }, true, true],
] as const)('%j and %j are of one shape: as plans %s, as queries %s', (a, b, isPlan, isQuery) => {
  expect([isSame(a, b, 'plan'), isSame(a, b, 'query')]).toEqual([isPlan, isQuery]);
});
