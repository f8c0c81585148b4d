/** The different values of a field, in their order. */
import { type Bson, isArray, writeBson } from '../../../../value/index.ts';
import { BsonSet } from '../../aggregate/bson-set.ts';
import type { Command } from '../../call.ts';
import { findCollection, isTimeSeries } from '../../collections/collection.ts';
import { namespaceOf } from '../../collections/target.ts';
import { findDocuments, foldDocuments } from '../../documents/find-documents.ts';
import type { DocumentFold } from '../../documents/folds.ts';
import { matching, type ReadFields, type Row, readerOf } from '../../documents/rows.ts';
import { MongoError } from '../../errors.ts';
import { DOCUMENT_BYTES_MAX } from '../../limits.ts';
import type { Collation } from '../../query/collation.ts';
import { parseFilter } from '../../query/filter-parser.ts';
import { arrayIndex, type FieldPath, someWholeAt, splitPath } from '../../query/path.ts';
import { documentOf, ok } from '../../reply.ts';
import { CollatedSet } from './collated-set.ts';
import { checkHint, contextOf } from './query-arguments.ts';

export const distinct: Command = {
  needs: 'read',
  fields: {
    key: 'string!',
    query: 'object',
    collation: 'object',
    hint: 'any',
    includeQueryStatsMetrics: 'flag',
    querySettings: 'object',
  },
  async run(call) {
    const {
      context: { service },
      args,
      body,
      store,
    } = call;
    const collection = findCollection(service, namespaceOf(call));
    const path = splitPath(args.text('key'));
    const context = contextOf(call, collection);
    const filter = parseFilter(args.optionalDocument('query') ?? new Map(), context);
    const covered = checkHint(collection, body.get('hint'), filter, true);
    if (path.some((step) => step.includes('\0')))
      throw new MongoError('Location31032', 'The key must not contain embedded null characters');
    if (collection === undefined) return ok({ values: [] });
    const { collation } = context;
    const start = () => new ValuesFold(path, collation);
    const { compare } = context.expression;
    // A step that may be the place of an element leads to values that an index does not have.
    const isPlain = path.every((step) => arrayIndex(step) === undefined);
    const options = { compare, valuesOf: isPlain ? path : undefined };
    const folded =
      covered === undefined ? foldDocuments(store, collection, filter, start, options) : undefined;
    const fold = folded === undefined ? start() : await folded();
    if (folded === undefined) {
      const found = findDocuments(store, collection, filter, { compare });
      const rows = covered === undefined ? found : matching(found, covered);
      for await (const batch of rows) for (const row of batch) fold.add(row);
    }
    const sorted = [...fold.values.values()].sort(compare);
    checkSize(sorted);
    // What MongoDB answers through a view has an int32 here.
    return isTimeSeries(collection)
      ? documentOf({ values: sorted, ok: 1 })
      : ok({ values: sorted });
  },
};

/** The different values at a path; elements of an array instead of the array. */
class ValuesFold implements DocumentFold {
  readonly values: BsonSet | CollatedSet;
  readonly #path: FieldPath;
  readonly #read: ReadFields;

  constructor(path: FieldPath, collation: Collation | undefined) {
    this.#path = path;
    this.#read = readerOf(new Set(path.slice(0, 1)));
    this.values = collation === undefined ? new BsonSet() : new CollatedSet(collation);
  }

  add(row: Row): boolean {
    someWholeAt(this.#read(row), this.#path, this.#addValue);
    return true;
  }

  readonly #addValue = (value: Bson | undefined): boolean => {
    if (isArray(value)) for (const element of value) this.values.add(element);
    else if (value !== undefined) this.values.add(value);
    return false;
  };
}

/** The values come in one document. */
function checkSize(values: readonly Bson[]): void {
  const bytes = writeBson(new Map([['values', values]])).length;
  if (bytes > DOCUMENT_BYTES_MAX)
    throw new MongoError('Location17217', 'distinct too big, 16mb cap');
}
