/** The key by which an index has a document: the values of its fields, of an array the one that the filter asked for. */
import { type Bson, type BsonDocument, compareBson, isArray } from '../../../value/index.ts';
import { doubleOf, isNumber } from '../bson/arithmetic.ts';
import { hashOf } from '../bson/hash.ts';
import { conjuncts, type Filter } from '../query/filter.ts';
import { compileFilter } from '../query/filter-test.ts';
import { someWholeAt, splitPath } from '../query/path.ts';

/** Kinds of indexes whose keys are no values of a document. */
const KEYLESS: ReadonlySet<string> = new Set(['2d', '2dsphere', 'text']);

/** A function of a document; undefined for indexes whose keys say nothing of it. */
export function indexKeyReader(
  key: BsonDocument,
  filter: Filter,
): ((document: BsonDocument) => BsonDocument) | undefined {
  const fields = [...key];
  if (fields.some(([name, kind]) => KEYLESS.has(String(kind)) || name.includes('$**')))
    return undefined;
  const readers = fields.map(([name, kind]) => [name, valueReader(name, kind, filter)] as const);
  return (document) => new Map(readers.map(([name, read]) => [name, read(document)]));
}

function valueReader(name: string, kind: Bson, filter: Filter): (document: BsonDocument) => Bson {
  const path = splitPath(name);
  const tests = conjuncts(filter).flatMap((part) =>
    part.kind === 'field' && part.path.join('.') === name
      ? [compileFilter({ ...part, path: ['v'] })]
      : [],
  );
  const isDescending = isNumber(kind) && doubleOf(kind) < 0;
  return (document) => {
    const values: Bson[] = [];
    someWholeAt(document, path, (value) => {
      if (isArray(value)) values.push(...value);
      else if (value !== undefined) values.push(value);
      return false;
    });
    values.sort((a, b) => (isDescending ? compareBson(b, a) : compareBson(a, b)));
    const found = values.find((value) => tests.every((test) => test(new Map([['v', value]]))));
    const chosen = found ?? values[0] ?? null;
    return kind === 'hashed' ? hashOf(chosen) : chosen;
  };
}
