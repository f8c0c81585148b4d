/**
 * The definition of a global secondary index in the body of a container: `materializedViewDefinition`, or by its newer
 * name `globalSecondaryIndexDefinition`, with the source container and a query from its items to rows.
 */
import { DomainError } from '../../../base/index.ts';
import { type ContainerRecord, containerRid, type IndexingPolicy } from '../../../catalog/index.ts';
import type { ContainerSpec } from '../../../service/index.ts';
import { isMap, type Value, type ValueMap } from '../../../value/index.ts';
import { compileQuery, isAggregating, parseQuery, type Query } from '../sql/index.ts';

const NAMES = ['materializedViewDefinition', 'globalSecondaryIndexDefinition'] as const;

export function parseGlobalIndex(
  body: ValueMap,
  indexing: IndexingPolicy,
): ContainerSpec['globalIndex'] {
  const sent = sentDefinition(body);
  if (sent === undefined || sent === null) return undefined;
  if (!isMap(sent)) throw invalid('The definition of a global secondary index must be an object.');
  const { definition } = sent;
  const sourceId = sent.sourceCollectionId ?? sent.sourceContainerId;
  if (typeof sourceId !== 'string' || sourceId === '' || typeof definition !== 'string')
    throw invalid(
      'The definition of a global secondary index must have a sourceCollectionId and a definition.',
    );
  if (indexing.indexingMode === 'none')
    throw invalid('A global secondary index must have a consistent indexing policy.');
  compileDefinition(definition);
  return { sourceId, definition };
}

/** Source and query of an index never change. */
export function checkGlobalIndex(body: ValueMap, { globalIndex }: ContainerRecord): void {
  const sent = sentDefinition(body);
  if (sent === undefined || sent === null) return;
  const isSame =
    isMap(sent) &&
    (sent.sourceCollectionId ?? sent.sourceContainerId) === globalIndex?.sourceId &&
    sent.definition === globalIndex?.definition;
  if (!isSame) throw invalid('The definition of a global secondary index cannot be changed.');
}

export function globalIndexResource({ globalIndex, databaseRid }: ContainerRecord): ValueMap {
  if (globalIndex === undefined) return {};
  const { sourceId, sourceRid, definition } = globalIndex;
  const sourceCollectionRid = containerRid(databaseRid, sourceRid);
  return {
    materializedViewDefinition: { sourceCollectionId: sourceId, sourceCollectionRid, definition },
  };
}

/** Selects properties of the item, or all of it: one item, one row. Throws SqlError for an invalid query. */
export function compileDefinition(text: string) {
  const query: Query = parseQuery(text);
  const { selection, isDistinct, top } = query.select;
  const { where, groupBy, orderBy, window, from } = query;
  const hasOtherClauses = isDistinct || top || where || groupBy || orderBy || window;
  const isPlainSource =
    from?.kind === 'collection' &&
    from.collection.kind === 'path' &&
    from.collection.steps.length === 0;
  if (selection.kind === 'value' || hasOtherClauses || !isPlainSource || isAggregating(query))
    throw invalid(
      "The definition of a global secondary index must have the form 'SELECT c.a, c.b FROM c' or 'SELECT * FROM c'.",
    );
  return compileQuery(query);
}

function sentDefinition(body: ValueMap): Value {
  for (const name of NAMES) if (body[name] !== undefined) return body[name];
  return undefined;
}

function invalid(message: string): DomainError {
  return new DomainError('invalidInput', message);
}
