/** Documents as a find shows them: projected, as the keys of an index, and with the ids of their records. */
import type { Bson, BsonDocument } from '../../../../value/index.ts';
import type { Call } from '../../call.ts';
import type { Collection } from '../../collections/collection.ts';
import { chosenIndex } from '../../indexes/chosen-index.ts';
import type { MetadataSource } from '../../metadata/found-metadata.ts';
import { indexKeyReader } from '../../metadata/index-key.ts';
import { type MetadataKind, metadataOf } from '../../metadata/metadata.ts';
import { MetadataScope } from '../../metadata/metadata-scope.ts';
import { type Filter, nearOf, textOf } from '../../query/filter.ts';
import type { Project } from '../../query/projection.ts';
import { parseProjection } from '../../query/projection-parser.ts';
import type { QueryContext } from '../../query/query-context.ts';
import type { Sort } from '../../query/sort.ts';
import { collectScripted, type Scripted } from '../../scripts/script-calls.ts';

export interface ShownDocuments {
  /** What is asked of documents beside their fields. */
  readonly shown: MetadataScope | undefined;
  readonly project: Project | undefined;
  /** Expressions of the projection that call functions of clients. */
  readonly scripted: readonly Scripted[];
}

interface ParsedQuery {
  readonly context: QueryContext;
  readonly filter: Filter;
  readonly sort: Sort;
}

/** How documents are shown, and what has to be known of them for that. */
export function parseShown({ args }: Call, { context, filter, sort }: ParsedQuery): ShownDocuments {
  const sent = args.optionalDocument('projection') ?? new Map();
  const options = { returnKey: args.flag('returnKey'), showRecordId: args.flag('showRecordId') };
  if (sent.size === 0 && !options.returnKey && !options.showRecordId)
    return { shown: undefined, project: undefined, scripted: [] };
  const shown = new MetadataScope(knownIn(filter));
  const expression = { ...context.expression, metadata: shown };
  const { made, found: scripted } = collectScripted(expression, () =>
    parseProjection(sent, { context: { ...context, expression }, filter, sort }),
  );
  return { shown, project: showing(made, sent, { ...options, shown }), scripted };
}

function knownIn(filter: Filter): readonly MetadataKind[] {
  const scores: readonly MetadataKind[] = textOf(filter) === undefined ? [] : ['textScore'];
  return nearOf(filter) === undefined ? scores : [...scores, 'geoNearDistance', 'geoNearPoint'];
}

/** What documents are found by, for what is asked of them. */
export function sourceOf(
  collection: Collection,
  { filter, sort, hint, context }: ParsedQuery & { readonly hint: Bson | undefined },
  shown: MetadataScope,
): MetadataSource {
  const { compare } = context.expression;
  const options = { compare, hint, sort: sort.isEmpty ? undefined : sort };
  const index = shown.wants('indexKey') ? chosenIndex(collection, filter, options) : undefined;
  return {
    text: textOf(filter),
    near: nearOf(filter),
    sort: options.sort,
    indexKeyOf: index && indexKeyReader(index.key, filter),
  };
}

interface Shown {
  readonly returnKey: boolean;
  readonly showRecordId: boolean;
  /** Notes what has to be known of documents. */
  readonly shown: MetadataScope;
}

/** @param projection - as it was sent. */
function showing(
  project: Project | undefined,
  projection: BsonDocument,
  { returnKey, showRecordId, shown }: Shown,
): Project | undefined {
  if (returnKey) {
    shown.need('indexKey');
    return keysOf(projection, shown);
  }
  if (!showRecordId) return project;
  shown.need('recordId');
  return (document) => {
    const made = new Map(project?.(document) ?? document);
    const id = metadataOf(document)?.('recordId');
    return id === undefined ? made : made.set('$recordId', id);
  };
}

/** The key in the index, empty where none was used. Of a projection only sort keys are left. */
function keysOf(projection: BsonDocument, shown: MetadataScope): Project {
  const names = [...projection].filter(([, value]) => isSortKey(value)).map(([name]) => name);
  if (names.length > 0) shown.need('sortKey');
  return (document) => {
    const metadata = metadataOf(document);
    const made = new Map((metadata?.('indexKey') ?? new Map()) as BsonDocument);
    const sortKey = metadata?.('sortKey');
    if (sortKey !== undefined) for (const name of names) made.set(name, sortKey);
    return made;
  };
}

function isSortKey(value: Bson): boolean {
  return value instanceof Map && value.get('$meta') === 'sortKey';
}
