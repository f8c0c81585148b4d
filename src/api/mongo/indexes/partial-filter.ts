/** The filter of a partial index: which filters MongoDB allows, and those the layers below can test. */
import {
  type Bson,
  type BsonDocument,
  isDocument,
  printPath,
  valueOfBson,
} from '../../../value/index.ts';
import { MongoError } from '../errors.ts';
import type { FieldTest, Filter } from '../query/filter.ts';
import { parseFilter } from '../query/filter-parser.ts';
import { splitPath } from '../query/path.ts';
import { cannot } from './index-key.ts';
import type { DeclaredIndex } from './index-spec.ts';

type FilterTest = NonNullable<DeclaredIndex['filter']>[number];

const ALLOWED_TESTS: ReadonlySet<FieldTest['kind']> = new Set([
  'eq',
  'gt',
  'gte',
  'lt',
  'lte',
  'in',
  'type',
  'exists',
  'geo',
]);

/** Throws CannotCreateIndex for operators that a partial index cannot have. */
export function checkPartial(sent: BsonDocument): void {
  for (const name of sent.keys())
    if (name === '$expr')
      throw new MongoError(
        'QueryFeatureNotAllowed',
        'Expression not supported in partial index: $expr',
      );
    else if (name === '$text' || name === '$where')
      throw new MongoError('BadValue', `${name} is not allowed in this context`);
    else if (name === '$jsonSchema')
      throw cannot(`Expression not supported in partial index: ${name}`);
  checkPart(parseFilter(sent), 0);
}

function checkPart(filter: Filter, depth: number): void {
  if (filter.kind === 'and' || filter.kind === 'or') {
    for (const part of filter.of) checkPart(part, depth + 1);
    return;
  }
  const isAllowed =
    filter.kind === 'field' &&
    ALLOWED_TESTS.has(filter.test.kind) &&
    !(filter.test.kind === 'exists' && !filter.test.wants);
  if (!isAllowed) throw cannot(`Expression not supported in partial index: ${filter.kind}`);
}

const COMPARISONS: Readonly<Record<string, '=' | '<' | '<=' | '>' | '>='>> = {
  $eq: '=',
  $lt: '<',
  $lte: '<=',
  $gt: '>',
  $gte: '>=',
};

/** The tests of the layers below; undefined where they have none for an operator. */
export function partialTests(filter: BsonDocument): readonly FilterTest[] | undefined {
  const tests: FilterTest[] = [];
  for (const [name, sent] of filter) {
    if (name === '$and') {
      const inner = (sent as readonly BsonDocument[]).map(partialTests);
      if (inner.includes(undefined)) return undefined;
      for (const each of inner) tests.push(...(each ?? []));
      continue;
    }
    if (name.startsWith('$')) return undefined;
    const path = printPath(splitPath(name));
    const isPlain = !isDocument(sent) || !(sent.keys().next().value ?? '').startsWith('$');
    const operators: BsonDocument = isPlain ? new Map([['$eq', sent]]) : (sent as BsonDocument);
    for (const [operator, value] of operators) {
      const comparison = COMPARISONS[operator];
      if (operator === '$exists') tests.push({ path, kind: 'exists', isPresent: true });
      else if (comparison !== undefined && isScalar(value))
        tests.push({ path, kind: 'compare', comparison, value: valueOfBson(value) });
      else return undefined;
    }
  }
  return tests;
}

function isScalar(value: Bson): boolean {
  return (
    value === null || typeof value !== 'object' || !(value instanceof Map || Array.isArray(value))
  );
}
