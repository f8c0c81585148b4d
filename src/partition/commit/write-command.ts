/**
 * A write as a pure, synchronous decision: from what is stored to what shall be stored. The committer runs it between
 * reading and applying, so etag checks, upserts, batches and patches need no locks.
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
  /** Every item it reads or writes, once; all of one logical partition. The sweeper may name any, and one twice. */
  readonly keys: readonly ItemKey[];
  /** `current[i]` is the item of `keys[i]`. Throws a DomainError to refuse; then nothing is applied. */
  decide(current: readonly (Item | undefined)[], context: DecisionContext): readonly Mutation[];
  /** Whether `current` has invisible items too. */
  readonly includesInvisible?: boolean;
  /** Changes the range tombstones; one with LSN 0 gets the LSN of the command. */
  readonly rangeTombstones?: (current: readonly RangeTombstone[]) => readonly RangeTombstone[];
  /** Set by movers only: the writes happened in another partition, at this LSN or before, and get no LSN here. */
  readonly movedLsn?: Lsn;
  /** Set by movers only: tombstones and versions of another partition, unchanged. */
  readonly movedHistory?: readonly Entry[];
  /** Set by the index builder only: how far the index is built when the command is durable. */
  readonly indexState?: IndexState;
}

/** Keys from which on a command is bulk. */
const BULK_KEYS_MIN = 16;

/** Whether a command writes so many items that few will be read soon: they do not fill the record cache. */
export function isBulk({ keys }: WriteCommand): boolean {
  return keys.length >= BULK_KEYS_MIN;
}

/** Questions that a decision may ask before anything is applied. */
export interface DecisionContext {
  /**
   * The item that a put would store.
   * @param operation - number of writes of the same item before this one in the same command.
   */
  stamp(put: Put, previous: Item | undefined, operation: number): Item;
  /** Undefined where the container has no unique keys. Decisions of writers claim the values of their items. */
  readonly claims: UniqueClaims | undefined;
}

export type Put = Mutation & { readonly kind: 'put' };

export type Mutation =
  | {
      readonly kind: 'put';
      readonly key: ItemKey;
      readonly encoding: Encoding;
      /** As the client sent it; the body finisher makes it what the home API returns. */
      readonly body: Bytes;
      readonly ttlSec: number;
      /** The decoded body, where the writer has it: the index need not decode it again. */
      readonly value?: Value;
      /** The reserved rid of a new item. */
      readonly rid?: Rid | undefined;
    }
  | { readonly kind: 'delete'; readonly key: ItemKey; readonly cause?: Cause }
  /** A put that was stamped while deciding. */
  | {
      readonly kind: 'stamped';
      readonly key: ItemKey;
      readonly item: Item;
      /** Value and body of the put, before the body was finished. */
      readonly value: Value;
      readonly body: Bytes;
    }
  /** The item as it is in another partition. */
  | { readonly kind: 'adopt'; readonly key: ItemKey; readonly item: Item }
  /** The item does not change and is indexed again. */
  | { readonly kind: 'reindex'; readonly key: ItemKey };

/** The new body of an item, given by the writer or computed at the decision. */
export interface NewBody {
  readonly body: Bytes;
  readonly ttlSec: number;
  /** The decoded body. The first decision takes it, because a waiting write would keep much memory with it. */
  value?: Value;
  /** The reserved rid, where it is a new item. */
  readonly rid?: Rid | undefined;
}

/** Conditions on the item before the operation, as in HTTP: an etag, or `*` for any item. */
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

/** True where a decision without mutations has nothing to commit. A mover may change the LSN alone. */
export function changesNothing({ movedLsn, indexState, rangeTombstones }: WriteCommand): boolean {
  return movedLsn === undefined && indexState === undefined && rangeTombstones === undefined;
}

/** The command of one operation. */
export function commandOf(op: ItemOp): WriteCommand {
  return {
    keys: [op.key],
    decide: ([current], context) => {
      const mutation = decideOp(op, current);
      if (context.claims !== undefined) claim(context.claims, mutation, current);
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

/** Passes where the item is absent: there is no etag to compare. */
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
