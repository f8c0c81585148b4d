/** Replies of the cluster, each with its response info, and the refusals that carry one. */
import {
  assert,
  type Bytes,
  DomainError,
  type ResponseInfo,
  type SessionToken,
} from '../base/index.ts';
import {
  type Effect,
  type EpkRange,
  epkOfPrimary,
  type Item,
  type ItemPage,
  type Lsn,
  type OperationEffect,
  type Partition,
} from '../partition/index.ts';
import type { HeatKey, Refusal } from '../throughput/index.ts';
import type { Route } from './routing/routing-map.ts';

export interface ReadReply extends ResponseInfo {
  readonly item: Item | undefined;
}

export interface WriteReply extends ResponseInfo {
  readonly effect: Effect;
}

export interface OperationOutcome extends OperationEffect {
  readonly charge: number;
}

export interface TransactionReply extends ResponseInfo {
  /** One per operation, in order. */
  readonly outcomes: readonly OperationOutcome[];
}

/** The end of one write of a sequence. */
export type SequenceResult =
  | { readonly effect: Effect; readonly charge: number }
  | { readonly error: DomainError }
  /** A write before it was refused, or with `all` any other one. */
  | { readonly notRun: true };

export interface SequenceReply extends ResponseInfo {
  /** One per write, in order. */
  readonly results: readonly SequenceResult[];
}

export interface PageReply extends ResponseInfo {
  readonly page: ItemPage;
}

export interface PageRequest {
  readonly scope: PageScope;
  readonly after: string | undefined;
  readonly limit: number;
  readonly bytesMax: number;
}

export type PageScope =
  /** In rid order; the whole partition where `within` is undefined. */
  | { readonly kind: 'range'; readonly within: EpkRange | undefined }
  /** In primary key order: a logical partition, or all that share a prefix of its key. */
  | { readonly kind: 'key'; readonly within: EpkRange | Bytes };

/** The cost of an operation, and the one key that it was about. */
export interface Charged {
  readonly charge: number;
  readonly bytes: number;
  readonly key: HeatKey | undefined;
}

/** The result of a visit to a partition, and its cost. */
export interface Visited<T> extends Charged {
  readonly found: T;
}

/** The part of one partition in a query that is charged as a whole. */
export interface WorkShare {
  readonly route: Route;
  /** In any unit that is the same for all partitions. */
  readonly effort: number;
  /** Bytes that were read from it. */
  readonly bytes: number;
  /** The one key that the query was about; undefined where there were several. */
  readonly key: HeatKey | undefined;
}

/** The key of a page of one logical partition. */
export function keyOfScope({ within }: { readonly within: unknown }): HeatKey | undefined {
  if (!(within instanceof Uint8Array)) return undefined;
  return { epk: epkOfPrimary(within), primary: within };
}

export function responseInfoOf({ partition }: Route, lsn: Lsn, charge: number): ResponseInfo {
  return { partitionId: partition.id, lsn, charge };
}

/** The positions of all partitions that responded but the first; undefined where there are none. */
export function othersOf([first, ...rest]: readonly ResponseInfo[]): ResponseInfo['others'] {
  const others = [...(first?.others ?? [])];
  for (const { partitionId, lsn, others: more = [] } of rest)
    others.push({ partitionId, lsn }, ...more);
  return others.length === 0 ? undefined : others;
}

/** One response of several partitions: the first one's, with all charges and positions. */
export function togetherInfo(infos: readonly ResponseInfo[]): ResponseInfo {
  const [first] = infos;
  assert(first !== undefined, 'a partition has responded');
  let charge = 0;
  for (const info of infos) charge += info.charge;
  const { partitionId, lsn } = first;
  return { partitionId, lsn, charge, others: othersOf(infos) };
}

/** A refusal costs nothing. It says where the partition is, if it is open. */
export function throttled(route: Route, { reason, retryAfterMs }: Refusal): DomainError {
  const error = new DomainError(
    reason === 'partition' ? 'throttled' : 'bucketThrottled',
    'Request rate is large. More Request Units may be needed, so no changes were made.',
    retryAfterMs,
  );
  const lsn = route.handle.partition?.lsn;
  if (lsn !== undefined) error.responseInfo = responseInfoOf(route, lsn, 0);
  return error;
}

/** Throws where the client has seen a later state of this partition, or of those it came from. */
export function checkSession(
  partition: Partition,
  route: Route,
  session: SessionToken | undefined,
): void {
  if (session === undefined) return;
  const { id, parents } = route.partition;
  const isBehind = session.some(
    ({ partitionId, lsn }) =>
      lsn > partition.lsn && (partitionId === id || parents.includes(partitionId)),
  );
  if (isBehind)
    throw new DomainError(
      'sessionNotAvailable',
      'The read session is not available for the input session token.',
    );
}
