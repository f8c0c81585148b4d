/** Replies of the cluster, each with its response info, and the refusals that carry one. */
import { type Bytes, DomainError, type ResponseInfo } from '../base/index.ts';
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
import type { Route } from './routing-map.ts';
import { printSessionToken, sessionLsn } from './session-token.ts';

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
  const partitionId = partition.id;
  return { partitionId, lsn, charge, sessionToken: printSessionToken(partitionId, lsn) };
}

/** A refusal costs nothing. It carries the session token where the partition is open. */
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

export function checkSession(
  partition: Partition,
  route: Route,
  session: string | undefined,
): void {
  if (session === undefined || session === '') return;
  if (sessionLsn(session, route.partition) > partition.lsn)
    throw new DomainError(
      'sessionNotAvailable',
      'The read session is not available for the input session token.',
    );
}
