/**
 * Pages over the items of a container. A continuation names parts of the hash space, never partitions, so that it
 * stays valid when partitions split or merge: what is left to read is a list of segments, each with the position
 * reached inside it.
 */
import {
  append,
  compareBytes,
  DomainError,
  type ResponseInfo,
  type SessionToken,
} from '../../base/index.ts';
import type { ContainerRecord } from '../../catalog/index.ts';
import type { Cluster, PageScope, Route } from '../../cluster/index.ts';
import type { EpkRange, Item } from '../../partition/index.ts';
import type { RequestClass } from '../../throughput/index.ts';
import { epkFromHex, epkToHex } from '../../value/index.ts';
import { type FeedScope, intersect, rangeOfScope, type ScopeRange } from './scope-range.ts';

export interface FeedRequest {
  readonly scope: FeedScope;
  readonly continuation: string | undefined;
  readonly limit: number;
  readonly bytesMax: number;
  readonly sessionToken: SessionToken | undefined;
  readonly requestClass?: RequestClass | undefined;
}

export interface FeedPage extends ResponseInfo {
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
  const start = rangeOfScope(cluster.routing(container), container, request.scope);
  const segments =
    request.continuation === undefined
      ? [{ ...start.range, after: undefined }]
      : parse(request.continuation, start.range, request.scope.kind === 'partitionKey');
  const [first, ...rest] = segments as [Segment, ...Segment[]];
  const route = cluster.routing(container).forRange(first.min, first.max)[0];
  if (route === undefined) throw invalidContinuation();
  const here = intersect(first, route);
  const { page, ...info } = await cluster.page(
    route,
    {
      scope: pageScope(request.scope, start, here, route),
      after: first.after,
      limit: request.limit,
      bytesMax: request.bytesMax,
    },
    request.sessionToken,
    request.requestClass,
  );
  const left: Segment[] = [];
  if (page.next !== undefined) left.push({ ...here, after: page.next });
  if (compareBytes(here.max, first.max) < 0) left.push({ ...first, min: here.max });
  append(left, rest);
  return { items: page.items, continuation: print(left), ...info };
}

function pageScope(
  scope: FeedScope,
  { prefix }: ScopeRange,
  here: EpkRange,
  route: Route,
): PageScope {
  if (scope.kind === 'partitionKey') return { kind: 'key', within: prefix ?? here };
  const isWhole =
    compareBytes(here.min, route.min) === 0 && compareBytes(here.max, route.max) === 0;
  return { kind: 'range', within: isWhole ? undefined : here };
}

function print(segments: readonly Segment[]): string | undefined {
  if (segments.length === 0) return undefined;
  const list = segments.map(({ min, max, after }) =>
    after === undefined ? [epkToHex(min), epkToHex(max)] : [epkToHex(min), epkToHex(max), after],
  );
  return Buffer.from(JSON.stringify({ v: CONTINUATION_VERSION, left: list })).toString('base64');
}

/** Clients may send anything: text that is not a token of this feed is refused. */
function parse(text: string, within: EpkRange, isByKey: boolean): readonly Segment[] {
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
    const isPosition = isByKey ? isKeyPosition : isRidPosition;
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

/** A rid in base 36; see partition/read/scan.ts. */
function isRidPosition(text: unknown): text is string {
  return (
    typeof text === 'string' &&
    /^[0-9a-z]{1,11}$/.test(text) &&
    Number.isSafeInteger(Number.parseInt(text, 36))
  );
}

/** A primary key in hexadecimal. */
function isKeyPosition(text: unknown): text is string {
  return typeof text === 'string' && /^(?:[0-9a-f]{2}){1,8192}$/.test(text);
}

function invalidContinuation(): DomainError {
  return new DomainError('invalidInput', 'Invalid Continuation Token');
}
