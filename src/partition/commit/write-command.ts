/**
 * A write as a pure, synchronous decision: what is stored now → what shall be stored. The committer runs it with
 * nothing in between, so etag checks, upserts, batches and patches need no locks.
 */
import { type Bytes, DomainError, unreachable } from '../../base/index.ts';
import type { Entry } from '../../engine/index.ts';
import type { Encoding, Value } from '../../value/index.ts';
import type { IndexState } from '../index/index-state.ts';
import type { Item, ItemKey, Lsn, Rid } from '../item/item.ts';
import { timeEtag } from '../item/write-times.ts';
import type { Cause, RangeTombstone } from '../lifetime/invisible-items.ts';
import type { UniqueClaims } from './unique-claims.ts';

export interface WriteCommand {
  /** Every item it reads or writes, once; all of one logical partition. ExpirySweeper may name any, and one twice. */
  readonly keys: readonly ItemKey[];
  /** `current[i]` is the item of `keys[i]`. Throws a DomainError to refuse; then nothing of it is applied. */
  decide(current: readonly (Item | undefined)[], stage: DecisionContext): readonly Mutation[];
  /** Sees items as they are stored, also those that are no longer there for anybody else. */
  readonly includesHidden?: boolean;
  /** What shall be erased, of what is; an erasure of LSN 0 gets the LSN of the intent. */
  readonly rangeTombstones?: (current: readonly RangeTombstone[]) => readonly RangeTombstone[];
  /** Set by movers only: the writes happened elsewhere, at this LSN or before; they get no LSN of their own. */
  readonly movedLsn?: Lsn;
  /** Set by movers only: tombstones and versions as they stand in another partition. */
  readonly movedHistory?: readonly Entry[];
  /** Set by the builder of an index only: everything up to here is indexed when the intent is durable. */
  readonly indexState?: IndexState;
}

/** Keys of an intent that is bulk. */
const BULK_KEYS_MIN = 16;

/** So many items at once that few of them will soon be read: not worth a place in the cache, nor memory of their own. */
export function isBulk({ keys }: WriteCommand): boolean {
  return keys.length >= BULK_KEYS_MIN;
}

/** For decisions of several steps on one item: what a put would store, before anything is applied. */
export interface DecisionContext {
  /** @param operation - writes of the same item before this one in the same intent. */
  stamp(put: Put, previous: Item | undefined, operation: number): Item;
  /** Undefined where the container has no unique keys. Decisions of writers tell it what they are about to do. */
  readonly claims: UniqueClaims | undefined;
}

export type Put = Mutation & { readonly kind: 'put' };

export type Mutation =
  | {
      readonly kind: 'put';
      readonly key: ItemKey;
      readonly encoding: Encoding;
      /** As the client sent it; the container's seal makes it what the home API returns. */
      readonly body: Bytes;
      readonly ttlSec: number;
      /** The decoded body, where the writer has it: saves decoding it again for the index. */
      readonly value?: Value;
      /** Of an item that is not there yet: the number it was given before. */
      readonly rid?: Rid | undefined;
    }
  | { readonly kind: 'delete'; readonly key: ItemKey; readonly cause?: Cause }
  /** A put that was stamped while deciding. */
  | {
      readonly kind: 'stamped';
      readonly key: ItemKey;
      readonly item: Item;
      /** Of the put: as they were before it was sealed. */
      readonly value: Value;
      readonly body: Bytes;
    }
  /** The item as it stands in another partition. */
  | { readonly kind: 'adopt'; readonly key: ItemKey; readonly item: Item }
  /** The item stays as it is and is indexed anew. */
  | { readonly kind: 'reindex'; readonly key: ItemKey };

/** What a writer computes from the item as it is at the moment of the decision. */
export interface NewBody {
  readonly body: Bytes;
  readonly ttlSec: number;
  /** The decoded body, to be taken by the first decision: of a write that waits it would be the largest part. */
  value?: Value;
  /** Reserved for it, where it is a new item. */
  readonly rid?: Rid | undefined;
}

/** Conditions on the item as it is before the operation, as HTTP has them: an etag, or `*` for whatever is there. */
export interface Conditions {
  readonly ifMatch?: string | undefined;
  readonly ifNoneMatch?: string | undefined;
}

/** One operation on one item. All but `update` are plain data. */
export type ItemOp = Conditions &
  (
    | ({
        readonly kind: 'create' | 'upsert' | 'replace';
        readonly key: ItemKey;
        readonly encoding: Encoding;
      } & NewBody)
    | {
        readonly kind: 'update';
        readonly key: ItemKey;
        readonly encoding: Encoding;
        /** Pure and synchronous; throws a DomainError to refuse. Without `createsAbsent` there always is an item. */
        readonly update: (current: Item | undefined) => NewBody;
        readonly createsAbsent: boolean;
      }
    | { readonly kind: 'delete'; readonly key: ItemKey }
  );

/** True where a decision without mutations only looked. A mover may move the LSN alone. */
export function changesNothing({ movedLsn, indexState, rangeTombstones }: WriteCommand): boolean {
  return movedLsn === undefined && indexState === undefined && rangeTombstones === undefined;
}

/** The intent of one operation. */
export function commandOf(op: ItemOp): WriteCommand {
  return {
    keys: [op.key],
    decide: ([current], stage) => {
      const mutation = decideOp(op, current);
      if (stage.claims !== undefined) claim(stage.claims, mutation, current);
      return [mutation];
    },
  };
}

/** Throws `uniqueKeyViolation` where another item has the same values. */
export function claim(claims: UniqueClaims, mutation: Mutation, current: Item | undefined): void {
  if (mutation.kind === 'put') claims.put(mutation, current);
  else if (mutation.kind === 'delete') claims.delete(current);
}

export function decideOp(op: ItemOp, current: Item | undefined): Mutation {
  switch (op.kind) {
    case 'create':
      if (current !== undefined)
        throw new DomainError('itemExists', 'Resource with specified id or name already exists.');
      return putOf(op, op);
    case 'replace':
      checkConditions(op, present(current));
      return putOf(op, op);
    case 'upsert':
      checkConditions(op, current);
      return putOf(op, op);
    case 'update':
      checkConditions(op, op.createsAbsent ? current : present(current));
      return putOf(op, op.update(current));
    case 'delete':
      checkConditions(op, present(current));
      return { kind: 'delete', key: op.key };
    default:
      return unreachable(op);
  }
}

function putOf(
  { key, encoding }: { readonly key: ItemKey; readonly encoding: Encoding },
  written: NewBody,
): Put {
  const { body, ttlSec, value, rid } = written;
  written.value = undefined;
  return { kind: 'put', key, encoding, body, ttlSec, value, rid };
}

function present(current: Item | undefined): Item {
  if (current === undefined) throw itemNotFound();
  return current;
}

/** An item that is not there has no etag to compare. */
export function checkConditions(
  { ifMatch, ifNoneMatch }: Conditions,
  current: Item | undefined,
): void {
  if (current === undefined || (ifMatch === undefined && ifNoneMatch === undefined)) return;
  const isMatch = ifMatch === undefined || matches(ifMatch, current);
  const isNoneMatch = ifNoneMatch === undefined || !matches(ifNoneMatch, current);
  if (!isMatch || !isNoneMatch) throw preconditionFailed();
}

export function matches(etag: string, current: Item): boolean {
  if (etag === '*' || etag === current.etag) return true;
  return current.encoding === 'edm' && etag.startsWith('W/') && etag === timeEtag(current.time);
}

export function preconditionFailed(): DomainError {
  return new DomainError(
    'preconditionFailed',
    'Operation cannot be performed because one of the specified precondition is not met.',
  );
}

export function itemNotFound(): DomainError {
  return new DomainError(
    'itemNotFound',
    'Entity with the specified id does not exist in the system.',
  );
}
