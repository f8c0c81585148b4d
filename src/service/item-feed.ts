/**
 * Pages over the items of a container. A continuation names parts of the hash space, never partitions, so that it
 * stays valid when partitions split or merge: what is left to read is a list of segments, each with the position
 * reached inside it.
 */
import { type Bytes, compareBytes, DomainError, type Receipt } from '../base/index.ts';
import type { ContainerRecord } from '../catalog/index.ts';
import type { Cluster, PageScope, Route } from '../cluster/index.ts';
import { type EpkRange, type Item, logicalPartitionPrefix } from '../partition/index.ts';
import type { Traffic } from '../throughput/index.ts';
import {
  EPK_MAX,
  EPK_MIN,
  effectivePartitionKey,
  epkFromHex,
  epkRangeOfPrefix,
  epkToHex,
  type Value,
} from '../value/index.ts';

export interface FeedRequest {
  readonly scope: FeedScope;
  readonly continuation: string | undefined;
  readonly limit: number;
  readonly bytesMax: number;
  readonly sessionToken: string | undefined;
  readonly traffic?: Traffic | undefined;
}

export type FeedScope =
  | { readonly kind: 'container' }
  /** One partition by id, or a part of its range. */
  | { readonly kind: 'partition'; readonly id: string; readonly within?: EpkRange | undefined }
  /** A part of the hash space, whoever owns it. */
  | { readonly kind: 'range'; readonly within: EpkRange }
  /** A logical partition, or all whose hierarchical key begins with these values. */
  | { readonly kind: 'partitionKey'; readonly values: readonly Value[] };

export interface FeedPage extends Receipt {
  readonly items: readonly Item[];
  readonly continuation: string | undefined;
}

/** A part of the hash space still to be read, from the position where the last page ended. */
interface Segment extends EpkRange {
  readonly after: string | undefined;
}

const CONTINUATION_VERSION = 1;
const SEGMENTS_MAX = 1000;

export async function readFeed(
  cluster: Cluster,
  container: ContainerRecord,
  request: FeedRequest,
): Promise<FeedPage> {
  const start = startOf(cluster, container, request.scope);
  const segments =
    request.continuation === undefined
      ? [{ ...start.range, after: undefined }]
      : parse(request.continuation, start.range);
  const [first, ...rest] = segments as [Segment, ...Segment[]];
  const route = cluster.routing(container).forRange(first.min, first.max)[0];
  if (route === undefined) throw invalidContinuation();
  const here = intersect(first, route);
  const { page, ...receipt } = await cluster.page(
    route,
    {
      scope: pageScope(start, here, route),
      after: first.after,
      limit: request.limit,
      bytesMax: request.bytesMax,
    },
    request.sessionToken,
    request.traffic,
  );
  const left: Segment[] = [];
  if (page.next !== undefined) left.push({ ...here, after: page.next });
  if (compareBytes(here.max, first.max) < 0) left.push({ ...first, min: here.max });
  left.push(...rest);
  return { items: page.items, continuation: print(left), ...receipt };
}

interface Start {
  readonly range: EpkRange;
  /** Set for a single logical partition: what its primary keys begin with. */
  readonly prefix: Bytes | undefined;
  readonly isByKey: boolean;
}

function startOf(cluster: Cluster, container: ContainerRecord, scope: FeedScope): Start {
  switch (scope.kind) {
    case 'container':
      return { range: { min: EPK_MIN, max: EPK_MAX }, prefix: undefined, isByKey: false };
    case 'partition': {
      const route = cluster.routing(container).forId(scope.id);
      const range = scope.within === undefined ? route : intersect(scope.within, route);
      return { range: { min: range.min, max: range.max }, prefix: undefined, isByKey: false };
    }
    case 'range':
      return { range: scope.within, prefix: undefined, isByKey: false };
    case 'partitionKey': {
      const { partitionKey } = container;
      if (scope.values.length < partitionKey.paths.length)
        return {
          range: epkRangeOfPrefix(scope.values, partitionKey),
          prefix: undefined,
          isByKey: true,
        };
      const epk = effectivePartitionKey(scope.values, partitionKey);
      // The zero byte makes the smallest key of the hash space behind this one.
      const max = Buffer.concat([epk, Uint8Array.of(0)]);
      return {
        range: { min: epk, max },
        prefix: logicalPartitionPrefix(epk, scope.values),
        isByKey: true,
      };
    }
  }
}

function pageScope(start: Start, here: EpkRange, route: Route): PageScope {
  if (start.isByKey) return { kind: 'key', within: start.prefix ?? here };
  const isWhole =
    compareBytes(here.min, route.min) === 0 && compareBytes(here.max, route.max) === 0;
  return { kind: 'range', within: isWhole ? undefined : here };
}

function intersect(a: EpkRange, b: EpkRange): EpkRange {
  return {
    min: compareBytes(a.min, b.min) >= 0 ? a.min : b.min,
    max: compareBytes(a.max, b.max) <= 0 ? a.max : b.max,
  };
}

function print(segments: readonly Segment[]): string | undefined {
  if (segments.length === 0) return undefined;
  const list = segments.map(({ min, max, after }) =>
    after === undefined ? [epkToHex(min), epkToHex(max)] : [epkToHex(min), epkToHex(max), after],
  );
  return Buffer.from(JSON.stringify({ v: CONTINUATION_VERSION, left: list })).toString('base64');
}

/** Whatever a client sends back: anything but a token of this feed is refused. */
function parse(text: string, within: EpkRange): readonly Segment[] {
  let token: { v?: unknown; left?: unknown };
  try {
    token = JSON.parse(Buffer.from(text, 'base64').toString('utf8'));
  } catch {
    throw invalidContinuation();
  }
  const left = token?.left;
  if (token?.v !== CONTINUATION_VERSION || !Array.isArray(left)) throw invalidContinuation();
  if (left.length === 0 || left.length > SEGMENTS_MAX) throw invalidContinuation();
  return left.map((entry: unknown): Segment => {
    if (!Array.isArray(entry)) throw invalidContinuation();
    const [min, max, after] = entry as unknown[];
    if (!isHex(min) || !isHex(max) || !(after === undefined || isPosition(after)))
      throw invalidContinuation();
    const segment = { min: epkFromHex(min), max: epkFromHex(max), after };
    if (compareBytes(segment.min, within.min) < 0 || compareBytes(segment.max, within.max) > 0)
      throw invalidContinuation();
    if (compareBytes(segment.min, segment.max) >= 0) throw invalidContinuation();
    return segment;
  });
}

function isHex(text: unknown): text is string {
  return typeof text === 'string' && text.length % 2 === 0 && /^[0-9A-F]{0,2048}$/.test(text);
}

/** A rid in base 36, or a primary key in hexadecimal; see partition/scan.ts. */
function isPosition(text: unknown): text is string {
  return typeof text === 'string' && /^(?:[0-9a-z]{1,11}|(?:[0-9a-f]{2}){1,8192})$/.test(text);
}

function invalidContinuation(): DomainError {
  return new DomainError('invalidInput', 'Invalid Continuation Token');
}
