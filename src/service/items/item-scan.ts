/**
 * Pages of items in the order of their keys: rows of a logical partition, or all items of a part of the hash space, in
 * either direction. A continuation names a key, or a place in the hash space where a partition ended; both stay valid
 * when partitions split or merge.
 */
import {
  append,
  assert,
  type Bytes,
  compareBytes,
  DomainError,
  keyAfter,
  PAGE_BYTES_MAX,
  type ResponseInfo,
  type SessionToken,
} from '../../base/index.ts';
import type { ContainerRecord } from '../../catalog/index.ts';
import { type Cluster, type Route, scanPartition, togetherInfo } from '../../cluster/index.ts';
import {
  type EpkRange,
  epkOfPrimary,
  type Item,
  type ItemKeys,
  type KeyPosition,
  positionBehind,
  primaryRange,
  type RowBounds,
  type RowRange,
} from '../../partition/index.ts';
import type { HashRange } from '../../query/index.ts';
import type { RequestClass } from '../../throughput/index.ts';
import { epkFromHex, epkToHex, type Value } from '../../value/index.ts';
import { intersect } from './scope-range.ts';

export interface ScanRequest {
  /** All values of a partition key: its rows in their order. */
  readonly partitionKey?: readonly Value[] | undefined;
  /** Bounds of the row keys; only with a partition key. */
  readonly rows?: RowBounds | undefined;
  /** A part of the hash space, where there is no partition key: partition keys in the order of their hashes. */
  readonly range?: HashRange | undefined;
  readonly isReversed?: boolean | undefined;
  /** Only the first item of every partition key. */
  readonly isDistinct?: boolean | undefined;
  /** Whether shadows and headers are returned too. */
  readonly includesInternal?: boolean | undefined;
  readonly continuation?: string | undefined;
  readonly limit: number;
  readonly bytesMax?: number | undefined;
  readonly sessionToken?: SessionToken | undefined;
  readonly requestClass?: RequestClass | undefined;
}

export interface ScanPage extends ResponseInfo {
  /** Possibly none although there are more. */
  readonly items: readonly Item[];
  /** Undefined at the end. */
  readonly continuation: string | undefined;
  /** Goes on behind one of the items, where less than the page was used. */
  continuationBehind(item: Item): string;
}

/** The keys of a scan, and the part of the hash space that has them. */
interface Scope extends EpkRange {
  readonly rows: RowRange | undefined;
}

/** What is left of a scan: a part of the hash space, and the last key that was read in it. */
interface Left extends EpkRange {
  readonly after: KeyPosition | undefined;
}

export async function scanItems(
  cluster: Cluster,
  container: ContainerRecord,
  request: ScanRequest,
): Promise<ScanPage> {
  const routing = cluster.routing(container);
  const { isReversed = false, limit, bytesMax = PAGE_BYTES_MAX } = request;
  const scope = scopeOf(routing.keys, request);
  let left: Left | undefined = beginning(routing.keys, scope, request);
  const items: Item[] = [];
  const infos: ResponseInfo[] = [];
  let bytes = 0;
  while (left !== undefined && (infos.length === 0 || (items.length < limit && bytes < bytesMax))) {
    const routes = routing.forRange(left.min, left.max);
    const route = isReversed ? routes.at(-1) : routes[0];
    if (route === undefined) break;
    const here = intersect(left, route);
    const scan = {
      keys: routing.keys,
      range: scope.rows ?? primaryRange(here.min, here.max),
      isReversed,
      isDistinct: request.isDistinct ?? false,
      includesInternal: request.includesInternal,
      after: left.after,
      limit: limit - items.length,
      bytesMax: bytesMax - bytes,
    };
    const reply = await pageOf(cluster, route, scan, request, infos.length > 0);
    if (reply === undefined) break;
    infos.push(reply);
    append(items, reply.page.items);
    for (const { record } of reply.page.items) bytes += record.length;
    left = leftBehind(left, here, reply.page.next, isReversed);
    if (reply.page.next !== undefined) break;
  }
  const continuation = left && printLeft(left, isReversed);
  const continuationBehind = (item: Item) => printPosition(positionBehind(item, routing.keys));
  return { items, continuation, continuationBehind, ...togetherInfo(infos) };
}

/** Undefined where a later partition of the page has no throughput left: the page then ends before it. */
async function pageOf(
  cluster: Cluster,
  route: Route,
  scan: Parameters<typeof scanPartition>[2],
  { sessionToken, requestClass }: ScanRequest,
  isLater: boolean,
) {
  try {
    return await scanPartition(cluster, route, scan, sessionToken, requestClass);
  } catch (error) {
    const isThrottled = error instanceof DomainError && error.code === 'throttled';
    if (isThrottled && isLater) return undefined;
    throw error;
  }
}

function scopeOf(keys: ItemKeys, { partitionKey, rows, range }: ScanRequest): Scope {
  if (partitionKey === undefined) {
    assert(range !== undefined && rows === undefined, 'a scan has a partition key or a range');
    return { min: epkFromHex(range.min), max: epkFromHex(range.max), rows: undefined };
  }
  const epk = keys.epk(partitionKey);
  return {
    min: epk,
    max: keyAfter(epk),
    rows:
      rows === undefined ? keys.rangeOf(epk, partitionKey) : keys.rowsOf(epk, partitionKey, rows),
  };
}

function leftBehind(
  left: Left,
  here: EpkRange,
  next: KeyPosition | undefined,
  isReversed: boolean,
): Left | undefined {
  if (next !== undefined) return { ...left, after: next };
  const rest = isReversed ? { min: left.min, max: here.min } : { min: here.max, max: left.max };
  return compareBytes(rest.min, rest.max) < 0 ? { ...rest, after: undefined } : undefined;
}

function beginning(keys: ItemKeys, scope: Scope, request: ScanRequest): Left | undefined {
  const { continuation, isReversed = false } = request;
  const whole = { min: scope.min, max: scope.max, after: undefined };
  if (continuation === undefined) return whole;
  const { place, after } = parse(keys, continuation);
  // With a key the rest of its own hash is left; without one everything behind the place.
  const behind = after === undefined ? place : keyAfter(place);
  const left = isReversed
    ? intersect(whole, { min: scope.min, max: behind })
    : intersect(whole, { min: place, max: scope.max });
  return compareBytes(left.min, left.max) < 0 ? { ...left, after } : undefined;
}

function printLeft({ min, max, after }: Left, isReversed: boolean): string {
  return after === undefined ? encode([epkToHex(isReversed ? max : min)]) : printPosition(after);
}

function printPosition({ primary, row }: KeyPosition): string {
  const parts = [base64(primary), ...(row === undefined ? [] : [base64(row)])];
  return encode([epkToHex(epkOfPrimary(primary)), ...parts]);
}

/** Clients may send anything: text that is not a continuation is refused. */
function parse(
  keys: ItemKeys,
  text: string,
): { readonly place: Bytes; readonly after: KeyPosition | undefined } {
  try {
    const parts: unknown = JSON.parse(Buffer.from(text, 'base64url').toString('utf8'));
    const isList = Array.isArray(parts) && parts.every((part) => typeof part === 'string');
    if (!isList || parts.length < 1 || parts.length > 3) throw invalidContinuation();
    const [place, primary, row] = parts as string[];
    const epk = epkFromHex(place ?? '');
    if (primary === undefined) return { place: epk, after: undefined };
    const key = Buffer.from(primary, 'base64');
    // Reads the key to its end, so that what is no key is refused here.
    if (keys.logicalPrefixOf(key).length > key.length) throw invalidContinuation();
    const after = { primary: key, row: row === undefined ? undefined : Buffer.from(row, 'base64') };
    return { place: epkOfPrimary(key), after };
  } catch {
    throw invalidContinuation();
  }
}

function encode(parts: readonly string[]): string {
  return Buffer.from(JSON.stringify(parts)).toString('base64url');
}

function base64(bytes: Bytes): string {
  return Buffer.from(bytes).toString('base64');
}

function invalidContinuation(): DomainError {
  return new DomainError('invalidInput', 'Invalid Continuation Token');
}
