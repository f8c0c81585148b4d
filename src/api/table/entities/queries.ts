/** GET of a table's entities: an executable query for the shared query layer, in key order, page by page. */
import { andThen, assert, type MaybePromise } from '../../../base/index.ts';
import type { ContainerRecord } from '../../../catalog/index.ts';
import {
  ANYTHING,
  allOf,
  type ExecutableQuery,
  type FoundItem,
  type HashRange,
  type Order,
  printPosition,
  type ResultRow,
  type Row,
} from '../../../query/index.ts';
import {
  EPK_MAX,
  EPK_MIN,
  effectivePartitionKey,
  epkToHex,
  type ValueMap,
} from '../../../value/index.ts';
import type { KeyBounds } from '../access/access.ts';
import { boundsCondition, isWithin } from '../access/key-bounds.ts';
import { type Call, linkBaseOf, ownerTable, withThrottleWait } from '../call.ts';
import {
  conditionOf,
  type Filter,
  parseFilter,
  partitionKeysOf,
  testOf,
  textKeys,
  textTestOf,
} from '../odata/index.ts';
import { jsonReply, type Reply } from '../reply.ts';
import { metadataLevel, pageRows, selectedNames } from '../request.ts';
import { continuationHeaders, parseContinuation } from './continuation.ts';
import { entitiesText } from './entity-reply.ts';

/** The order of every list; every table has a composite index for it. */
const KEY_ORDER: Order = {
  parts: [
    { path: ['PartitionKey'], isDescending: false },
    { path: ['RowKey'], isDescending: false },
  ],
};

/** A filter with more partition keys than this is sent to all partitions. */
const RANGES_MAX = 100;

/** Returns no promise where the service returns none. */
export function queryEntities(call: Call, table: string): MaybePromise<Reply> {
  const { service, headers, target, access, dialect } = call;
  const { query } = target;
  access.check({ level: 'o', permissions: ['r'], table });
  const view = {
    level: metadataLevel(headers, query),
    base: linkBaseOf(call, table),
    select: selectedNames(query),
  };
  const limit = pageRows(query);
  const text = query.get('$filter');
  const filter = text === undefined || text.trim() === '' ? undefined : parseFilter(text);
  const from = parseContinuation(query);
  const container = ownerTable(call, table);
  const ranges = rangesOf(container, filter);
  if (ranges.length === 0 || limit === 0) return jsonReply(200, entitiesText([], view), view.level);
  const request = {
    query: queryOf(filter, access.bounds),
    ranges,
    continuation: from && printPosition(from),
    limit,
    sessionToken: undefined,
    requestClass: dialect.requestClass,
  };
  const page = withThrottleWait(call, () => service.queries.run(container, request));
  return andThen(page, ({ rows, charge, continuation }) => {
    const entities = rows.map(storedText);
    const headers =
      continuation === undefined ? [] : continuationHeaders(entities.at(-1), continuation);
    return jsonReply(200, entitiesText(entities, view), view.level, { charge, headers });
  });
}

function storedText({ item }: ResultRow): string {
  assert(item !== undefined, 'every row is an entity');
  return item.text();
}

function queryOf(filter: Filter | undefined, bounds: KeyBounds | undefined): ExecutableQuery {
  const test = filter && testOf(filter);
  const textTest = filter && textTestOf(filter);
  return {
    condition: allOf(
      filter === undefined ? ANYTHING : conditionOf(filter),
      bounds === undefined ? ANYTHING : boundsCondition(bounds),
    ),
    shape: {
      kind: 'streaming',
      rowsOf(item: FoundItem): readonly Row[] {
        const entity = item.value() as ValueMap;
        if (test !== undefined && !test(entity)) return NO_ROWS;
        const { PartitionKey: partitionKey, RowKey: rowKey } = entity;
        if (bounds !== undefined) {
          const key = { partitionKey: partitionKey as string, rowKey: rowKey as string };
          if (!isWithin(bounds, key)) return NO_ROWS;
        }
        return [{ item, keys: [partitionKey, rowKey] }];
      },
      keysOf(item: FoundItem): readonly string[] | undefined {
        const text = item.text();
        const keys = textKeys(text);
        if (keys === undefined || textTest?.(text, keys) === false) return undefined;
        if (bounds !== undefined && !isWithin(bounds, keys)) return undefined;
        return [keys.partitionKey, keys.rowKey];
      },
      order: KEY_ORDER,
      skip: 0,
      take: Number.POSITIVE_INFINITY,
    },
  };
}

const NO_ROWS: readonly Row[] = [];

/** The ranges that can have matches: those of the partition keys, or the whole hash space. */
function rangesOf(container: ContainerRecord, filter: Filter | undefined): readonly HashRange[] {
  const keys = filter && partitionKeysOf(filter);
  if (keys === undefined || keys.size > RANGES_MAX)
    return [{ min: epkToHex(EPK_MIN), max: epkToHex(EPK_MAX) }];
  return [...keys]
    .map((key) => epkToHex(effectivePartitionKey([key], container.partitionKey)))
    .sort()
    .map((min) => ({ min, max: `${min}00` }));
}
