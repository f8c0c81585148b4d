/** Finds as queries of the shared planner: streams of rows, and folds without rows. */
import type { MaybePromise } from '../../../base/index.ts';
import type { ContainerRecord } from '../../../catalog/index.ts';
import {
  ANYTHING,
  type Blocking,
  type ExecutableQuery,
  type FoundItem,
  type HashRange,
  type Streaming,
  yieldToEventLoop,
} from '../../../query/index.ts';
import type { QueryPage, Service } from '../../../service/index.ts';
import {
  EPK_MAX,
  EPK_MIN,
  effectivePartitionKey,
  epkToHex,
  type Value,
} from '../../../value/index.ts';
import type { DocumentFold } from './folds.ts';
import { Row, type Rows } from './rows.ts';
import type { FindRequest, FoldRequest } from './store.ts';

/** Items of a page: few at first, for clients that want one, then more. */
export const PAGE_ITEMS_FIRST = 64;
export const PAGE_ITEMS_MAX = 1000;

const NO_KEYS: readonly Value[] = [];

/** The rows of a query, page by page. */
export async function* queryRows(
  { partitionKey: definition }: ContainerRecord,
  { partitionKey, condition, test, read = (row) => row.document, order }: FindRequest,
  run: (request: PageRequest) => MaybePromise<QueryPage>,
): Rows {
  /** Decoded once, by the test. */
  const decoded = new WeakMap<FoundItem, Row>();
  const shape: Streaming = {
    kind: 'streaming',
    rowsOf(item) {
      const row = Row.ofBody(item.body, item.rid);
      if (test?.(read(row)) === false) return [];
      decoded.set(item, row);
      return [{ item, keys: order === undefined ? NO_KEYS : order.keysOf(read(row)) }];
    },
    order: order?.order,
    skip: 0,
    take: order?.take ?? Number.POSITIVE_INFINITY,
  };
  const request = { query: { condition, shape }, ranges: [rangeOf(definition, partitionKey)] };
  let continuation: string | undefined;
  let limit = Math.min(PAGE_ITEMS_FIRST, shape.take);
  do {
    const page = await run({ ...request, continuation, limit, sessionToken: undefined });
    const rows = page.rows.map(({ item }) => {
      const found = item as FoundItem;
      return decoded.get(found) ?? Row.ofBody(found.body, found.rid);
    });
    if (rows.length > 0) yield rows;
    continuation = page.continuation;
    limit = Math.min(limit * 2, PAGE_ITEMS_MAX);
    // Pages of open partitions come at once: a pipeline over many would keep others waiting.
    await yieldToEventLoop();
  } while (continuation !== undefined);
}

/** A query without rows: the fold has the result. */
export function foldQuery(
  {
    partitionKey,
    condition,
    test,
    read = (row) => row.document,
    exactLimits,
    valuesOf,
  }: FoldRequest,
  start: () => DocumentFold,
): ExecutableQuery {
  const shape: Blocking = {
    kind: 'blocking',
    needsEvery: true,
    isUnordered: true,
    start: () => {
      const fold = start();
      return {
        add(item) {
          const row = Row.ofBody(item.body, item.rid);
          return test?.(read(row)) === false || fold.add(row);
        },
        addMatching: fold.addMatching,
        finish: () => [],
      };
    },
  };
  return {
    condition,
    isExact: test === undefined && condition === ANYTHING,
    // One partition key is a limit like the others.
    isWithin: partitionKey !== undefined,
    exactLimits,
    valuesOf,
    shape,
  };
}

type PageRequest = Parameters<Service['queries']['run']>[1];
/** The part of the hash space of one partition key, or all of it. */
export function rangeOf(
  definition: ContainerRecord['partitionKey'],
  values: readonly Value[] | undefined,
): HashRange {
  if (values === undefined) return { min: epkToHex(EPK_MIN), max: epkToHex(EPK_MAX) };
  const min = epkToHex(effectivePartitionKey(values, definition));
  return { min, max: `${min}00` };
}
