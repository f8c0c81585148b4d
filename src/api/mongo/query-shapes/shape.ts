/** The shape of a query: what queries have in common that differ in their values only. */
import { createHash } from 'node:crypto';
import {
  type Bson,
  type BsonDocument,
  bsonTypeOf,
  isArray,
  isDocument,
} from '../../../value/index.ts';
import { isNumber } from '../bson/arithmetic.ts';
import { exactText, expressionShape, filterShape } from './filter-shape.ts';

/** Names and operators as they are, values as their types. */
export function shapeText(value: Bson | undefined): string {
  return JSON.stringify(shape(value));
}

function shape(value: Bson | undefined): unknown {
  if (value === undefined) return null;
  if (isDocument(value)) return [...value].map(([name, inner]) => [name, shape(inner)]);
  if (!isArray(value)) return isNumber(value) ? '?number' : `?${bsonTypeOf(value)}`;
  // A list of values has one shape whatever its length; clauses and stages count one by one.
  if (value.some(isDocument)) return value.map(shape);
  return [...new Set(value.map((each) => JSON.stringify(shape(each))))].sort();
}

const SHAPED: Readonly<Record<string, readonly string[]>> = {
  find: ['filter', 'sort', 'projection', 'skip', 'limit', 'collation', 'let'],
  distinct: ['key', 'query', 'collation'],
  aggregate: ['pipeline', 'collation', 'let'],
};

/** True for the commands whose queries can be given settings. */
export function isShaped(name: string): boolean {
  return Object.hasOwn(SHAPED, name);
}

/** The shape of a command that reads; the order of its fields does not matter. */
export function commandShape(name: string, database: string, body: BsonDocument): string {
  const parts = (SHAPED[name] ?? []).flatMap((field): readonly Bson[] => {
    const value = body.get(field) ?? undefined;
    if (value === undefined || ((isDocument(value) || isArray(value)) && sizeOf(value) === 0))
      return [];
    return [`${field}:${partText(field, value)}`];
  });
  const text = JSON.stringify([name, database, String(body.get(name)), ...parts]);
  return createHash('sha256').update(text).digest('hex').toUpperCase();
}

/** The field of `distinct`, sorts, projections and collations are part of the shape, not values. */
const EXACT: ReadonlySet<string> = new Set(['key', 'sort', 'projection', 'collation']);

function partText(field: string, value: Bson): string {
  if (EXACT.has(field)) return exactText(value);
  if ((field === 'filter' || field === 'query') && isDocument(value))
    return JSON.stringify(filterShape(value, 'query'));
  if (field === 'pipeline' && isArray(value)) return JSON.stringify(value.map(stageShape));
  return shapeText(value);
}

function stageShape(stage: Bson): unknown {
  const match = isDocument(stage) ? stage.get('$match') : undefined;
  return isDocument(match) ? ['$match', filterShape(match, 'query')] : expressionShape(stage);
}

function sizeOf(value: BsonDocument | readonly Bson[]): number {
  return isArray(value) ? value.length : (value as BsonDocument).size;
}
