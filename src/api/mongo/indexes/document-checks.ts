/** What an index demands of every document: no two arrays in one entry, places that are places, known languages. */
import { type Bson, type BsonDocument, isArray, isDocument } from '../../../value/index.ts';
import { printBson, printDocument } from '../bson/print.ts';
import { MongoError } from '../errors.ts';
import { INDEX_ENTRIES_MAX } from '../limits.ts';
import { parseFilter } from '../query/filter-parser.ts';
import { compileFilter, type DocumentTest } from '../query/filter-test.ts';
import { sphere, storedGeometry } from '../query/geo/geometry.ts';
import { someWholeAt, splitPath } from '../query/path.ts';
import { textRules } from '../query/text/languages.ts';
import { isWildcard } from './index-key.ts';
import { follow } from './index-steps.ts';
import { parallelArrays } from './parallel-arrays.ts';

/** The check of one index, as it can be sent with an update. */
export type IndexCheck = IndexRule & {
  /** The documents of a partial index, which demands nothing of others. */
  readonly filter?: BsonDocument;
};

type IndexRule =
  | { readonly kind: 'parallel' | 'wildcard'; readonly fields: readonly string[] }
  | {
      readonly kind: '2dsphere' | '2d';
      readonly field: string;
      readonly min: number;
      readonly max: number;
    }
  | { readonly kind: 'entries'; readonly fields: readonly string[]; readonly weight: number }
  | { readonly kind: 'hashed'; readonly field: string }
  | { readonly kind: 'language'; readonly field: string };

export function indexChecks(
  indexes: readonly { readonly key: BsonDocument; readonly spec: BsonDocument }[],
): readonly IndexCheck[] {
  const checks: IndexCheck[] = [];
  for (const { key, spec } of indexes) {
    const plain: string[] = [];
    const rules: IndexRule[] = [];
    for (const [field, kind] of key) {
      const [min, max] = [Number(spec.get('min') ?? -180), Number(spec.get('max') ?? 180)];
      const type = typeof kind === 'string' ? kind : undefined;
      if (type === '2dsphere' || type === '2d') rules.push({ kind: type, field, min, max });
      else if (type === 'hashed') rules.push({ kind: type, field });
      else if (typeof kind !== 'string' && !isWildcard(field) && field !== '_ftsx')
        plain.push(field);
    }
    const hasWildcard = [...key.keys()].some(isWildcard);
    if (hasWildcard && plain.length > 0) rules.push({ kind: 'wildcard', fields: plain });
    if (plain.length > 1) rules.push({ kind: 'parallel', fields: plain });
    const weight = spec.get('unique') === true ? UNIQUE_WEIGHT : 1;
    if (plain.length > 0 && !hasWildcard) rules.push({ kind: 'entries', fields: plain, weight });
    const language = spec.get('language_override');
    if (typeof language === 'string') rules.push({ kind: 'language', field: language });
    const filter = spec.get('partialFilterExpression');
    for (const rule of rules) checks.push(isDocument(filter) ? { ...rule, filter } : rule);
  }
  return checks;
}

/** An entry that has to be unique is work for this many others. */
const UNIQUE_WEIGHT = 3;

/** Throws CannotIndexParallelArrays and its kind. */
export function checkIndexed(checks: readonly IndexCheck[], document: BsonDocument): void {
  let entries = 0;
  for (const check of checks) {
    if (check.filter !== undefined && !passes(check.filter, document)) continue;
    switch (check.kind) {
      case 'entries':
        entries += check.weight * entriesOf(check.fields, document);
        if (entries > INDEX_ENTRIES_MAX)
          throw new MongoError(
            'CannotBuildIndexKeys',
            `the arrays of the document have more entries in the indexes of the collection than ${INDEX_ENTRIES_MAX}`,
          );
        break;
      case 'parallel':
        checkParallel(check.fields, document);
        break;
      case 'wildcard':
        for (const field of check.fields)
          if (isArrayOnPath(document, field))
            throw new MongoError(
              'Location7246301',
              `compound wildcard index does not support arrays at ${field}`,
            );
        break;
      case 'hashed':
        if (isArrayOnPath(document, check.field))
          throw new MongoError(
            'Location16766',
            `Error: hashed indexes do not currently support array values. Found array at path: ${check.field}`,
          );
        break;
      case 'language':
        checkLanguage(document.get(check.field));
        break;
      default:
        checkPlace(check, document);
    }
  }
}

/** Compiled filters, which live as long as the rules that have them. */
const COMPILED = new WeakMap<BsonDocument, DocumentTest>();

function passes(filter: BsonDocument, document: BsonDocument): boolean {
  const test = COMPILED.get(filter) ?? compileFilter(parseFilter(filter));
  COMPILED.set(filter, test);
  return test(document);
}

/** Every value of an array is an entry, and every combination of them where several fields have arrays. */
function entriesOf(fields: readonly string[], document: BsonDocument): number {
  return fields.reduce((count, field) => {
    const path = field.split('.');
    return count * Math.max(1, valuesAt(document.get(path[0] as string), path, 1));
  }, 1);
}

function valuesAt(value: Bson | undefined, path: readonly string[], at: number): number {
  if (isArray(value)) {
    if (at === path.length) return value.length;
    let count = 0;
    for (const element of value) if (isDocument(element)) count += valuesAt(element, path, at);
    return count;
  }
  if (at === path.length || !isDocument(value)) return 1;
  return valuesAt(value.get(path[at] as string), path, at + 1);
}

function checkLanguage(language: Bson | undefined): void {
  if (language === undefined) return;
  if (typeof language !== 'string')
    throw new MongoError(
      'Location17261',
      'found language override field in document with non-string type',
    );
  if (textRules(language) === undefined)
    throw new MongoError('Location17262', `language override unsupported: ${language}`);
}

function isArrayOnPath(document: BsonDocument, field: string): boolean {
  return isArray(follow(document, splitPath(field)).value);
}

function checkParallel(fields: readonly string[], document: BsonDocument): void {
  const found = parallelArrays(document, fields.map(splitPath));
  if (found === undefined) return;
  const [a, b] = found;
  throw new MongoError('CannotIndexParallelArrays', `cannot index parallel arrays [${a}] [${b}]`);
}

function checkPlace(
  { kind, field, min, max }: IndexCheck & { readonly kind: '2d' | '2dsphere' },
  document: BsonDocument,
): void {
  someWholeAt(document, field.split('.'), (value) => {
    if (value === undefined || value === null || (isArray(value) && value.length === 0))
      return false;
    if (kind === '2dsphere') {
      const isPlace = isSpherePlace(value);
      if (!isPlace)
        throw new MongoError(
          'Location16755',
          `Can't extract geo keys: ${printDocument(document)}  can't project geometry into spherical CRS: ${printBson(value)}`,
        );
      return false;
    }
    if (isDocument(value) && value.size === 0) return false;
    const pairs = pairsOf(value);
    if (pairs === undefined)
      throw new MongoError(
        'Location13026',
        `geo values must be 'legacy coordinate pairs' for 2d indexes :: caused by :: ${printBson(value)}`,
      );
    for (const [x, y] of pairs)
      if (!(x >= min && x <= max && y >= min && y <= max))
        throw new MongoError(
          'Location13027',
          `point not in interval of [ ${min}, ${max} ] :: caused by :: ${printBson(value)}`,
        );
    return false;
  });
}

function isSpherePlace(value: Bson): boolean {
  const geometry = storedGeometry(value);
  if (geometry?.shape === undefined) return false;
  return (
    geometry.pair === undefined || sphere.toPoint(geometry.pair[0], geometry.pair[1]) !== undefined
  );
}

function pairsOf(value: Bson): readonly (readonly [number, number])[] | undefined {
  const single = storedGeometry(value);
  if (single?.pair !== undefined) return [single.pair];
  if (!isArray(value)) return undefined;
  const pairs = value.map((each) => storedGeometry(each)?.pair);
  return pairs.includes(undefined) ? undefined : (pairs as [number, number][]);
}
