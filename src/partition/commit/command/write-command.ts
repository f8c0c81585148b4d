/**
 * A write as a pure, synchronous decision: from what is stored to what shall be stored. The committer runs it between
 * reading and applying, so etag checks, upserts, batches and patches need no locks.
 */
import { BODY_BYTES_MAX, type Bytes, DomainError, unreachable } from '../../../base/index.ts';
import type { Entry } from '../../../engine/index.ts';
import type { Encoding, Value } from '../../../value/index.ts';
import type { IndexState } from '../../index/stored/index-state.ts';
import type { Item, ItemKey, Lsn, Rid } from '../../item/item.ts';
import { timeEtag } from '../../item/write-times.ts';
import type { Cause, RangeTombstone } from '../../lifetime/invisible-items.ts';
import type { WriteNote } from '../../notes/note.ts';
import type { NoteBook } from '../../notes/note-book.ts';
import type { CommitGroup } from '../commit-group.ts';
import type { UniqueClaims } from '../unique/unique-claims.ts';
import { runUpdater, type UpdateReply, type UpdateScope } from './updater.ts';

export interface WriteCommand {
  /** Every item it reads or writes, once, of any logical partitions. The sweeper may name one twice. */
  readonly keys: readonly ItemKey[];
  /** `current[i]` is the item of `keys[i]`. Throws a DomainError to refuse; then nothing is applied. */
  decide(current: readonly (Item | undefined)[], context: DecisionContext): readonly Mutation[];
  /** Whether the decision reads or writes notes. */
  readonly usesNotes?: boolean;
  /** Whether `current` has invisible items too. */
  readonly includesInvisible?: boolean;
  /** Changes the range tombstones; one with LSN 0 gets the LSN of the command. */
  readonly rangeTombstones?: (current: readonly RangeTombstone[]) => readonly RangeTombstone[];
  /** Set by movers only: the writes happened in another partition, at this LSN or before, and get no LSN here. */
  readonly movedLsn?: Lsn;
  /** Set by movers only: index entries are not logged, because the mover flushes them before anybody relies on them. */
  readonly isCopy?: boolean;
  /** Set by movers only: the time of the last write of the other partition. */
  readonly movedTimestampSec?: number;
  /** Set by movers only: tombstones and versions of another partition, unchanged. */
  readonly movedHistory?: readonly Entry[];
  /** Set by the index builder only: how far the index is built when the command is durable. */
  readonly indexState?: IndexState;
  /** Set by the index builder only: a declared index whose entries are deleted. */
  readonly removedIndex?: number;
  /** Steps of transactions over partitions only: adds entries that belong to no item, when the decision is applied. */
  readonly beside?: (group: CommitGroup) => void;
}

/** Whether a command writes items that a prepared transaction may hold: not one that checks this itself. */
export function respectsHolds(command: WriteCommand): boolean {
  const { beside, movedLsn, indexState, includesInvisible } = command;
  return (
    beside === undefined &&
    movedLsn === undefined &&
    indexState === undefined &&
    includesInvisible !== true
  );
}

/** Keys from which on a command is bulk. */
const BULK_KEYS_MIN = 16;

/** Whether a command writes so many items that few will be read soon: they do not fill the record cache. */
export function isBulk({ keys }: WriteCommand): boolean {
  return keys.length >= BULK_KEYS_MIN;
}

/** Questions that a decision may ask before anything is applied. */
export interface DecisionContext extends UpdateScope {
  /**
   * The item that a put would store.
   * @param operation - number of writes of the same item before this one in the same command.
   */
  stamp(put: Put, previous: Item | undefined, operation: number): Item;
  /** Undefined where the container has no unique keys. Decisions of writers claim the values of their items. */
  readonly claims: UniqueClaims | undefined;
  /** For commands that say `usesNotes`. */
  readonly notes: NoteBook;
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
      /** A sum of ITEM_FLAGS. */
      readonly flags?: number | undefined;
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
  | { readonly kind: 'import'; readonly key: ItemKey; readonly item: Item }
  /** The item does not change and is indexed again, by one declared index or by all. */
  | { readonly kind: 'reindex'; readonly key: ItemKey; readonly index?: number | undefined };

/** The new body of an item, given by the writer or computed at the decision. */
export interface NewBody {
  readonly body: Bytes;
  readonly ttlSec: number;
  /** The decoded body. The first decision takes it, because a waiting write would keep much memory with it. */
  value?: Value;
  /** The reserved rid, where it is a new item. */
  readonly rid?: Rid | undefined;
  /** A sum of ITEM_FLAGS: the item is internal. Its body is stored as it is. */
  readonly flags?: number | undefined;
}

/** Conditions on the item before the operation, as in HTTP: an etag, or `*` for any item. */
export interface Conditions {
  readonly ifMatch?: string | undefined;
  readonly ifNoneMatch?: string | undefined;
}

/** One operation on one item, as plain data. */
export type ItemOp = (PlainOp | UpdateOp) & {
  /** The operation is run unless its owner has a note; then it is kept, and the note is its reply. */
  readonly note?: WriteNote | undefined;
};

/** An operation that says itself what is stored. */
export type PlainOp = Conditions &
  (
    | ({
        readonly kind: 'create' | 'upsert' | 'replace';
        readonly key: ItemKey;
        readonly encoding: Encoding;
      } & NewBody)
    | { readonly kind: 'delete'; readonly key: ItemKey }
  );

/** An operation that computes what is stored from what is there. */
export interface UpdateOp extends Conditions {
  readonly kind: 'update';
  readonly key: ItemKey;
  readonly encoding: Encoding;
  /** The name of a registered updater, and its arguments. */
  readonly updater: string;
  readonly args: Bytes;
  /** Where it is false, the updater always gets an item. */
  readonly createsAbsent: boolean;
  /** Other items of the logical partition that the updater looks at. */
  readonly alsoReads?: readonly ItemKey[] | undefined;
}

/** True where a decision without mutations has nothing to commit. A mover may change the LSN alone. */
export function changesNothing(command: WriteCommand): boolean {
  const { movedLsn, indexState, rangeTombstones, beside } = command;
  return (
    movedLsn === undefined &&
    indexState === undefined &&
    rangeTombstones === undefined &&
    beside === undefined
  );
}

/** The command of one operation. */
export function commandOf(op: PlainOp): WriteCommand {
  return {
    keys: [op.key],
    decide: ([current], context) => {
      const mutation = decidePlain(op, current);
      if (context.claims !== undefined) claim(context.claims, mutation, current);
      return [mutation];
    },
  };
}

/** Throws `uniqueKeyViolation` where another item has the same values. */
export function claim(claims: UniqueClaims, mutation: OpDecision, current: Item | undefined): void {
  if (mutation.kind === 'put' && !isInternal(mutation)) claims.put(mutation, visible(current));
  else if (mutation.kind === 'put') claims.delete(visible(current));
  else if (mutation.kind === 'delete') claims.delete(visible(current));
}

/** Whether a put stores a shadow or a header. */
export function isInternal({ flags }: Pick<Put, 'flags'>): boolean {
  return flags !== undefined && flags !== 0;
}

/** What an operation does to its item; `keep` changes nothing and is not applied. */
type OpDecision = (PutOrDelete | { readonly kind: 'keep' }) & {
  readonly reply?: UpdateReply;
};

export type PutOrDelete = Extract<Mutation, { readonly kind: 'put' | 'delete' }>;

/** @param also - the items of `alsoReads`. */
export function decideOp(
  op: ItemOp,
  current: Item | undefined,
  also: readonly (Item | undefined)[],
  scope: UpdateScope,
): OpDecision {
  if (op.kind !== 'update') return decidePlain(op, current);
  checkConditions(op, op.createsAbsent ? visible(current) : present(current));
  const outcome = runUpdater(op, [current, ...also], scope);
  const { kind, reply } = outcome;
  if (kind === 'put') return { ...putOf(op, outcome), reply };
  if (kind === 'keep' || current === undefined) return { kind: 'keep', reply };
  return { kind: 'delete', key: op.key, reply };
}

function decidePlain(op: PlainOp, stored: Item | undefined): PutOrDelete {
  const current = visible(stored);
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
  const { body, ttlSec, value, rid, flags } = written;
  if (body.length > BODY_BYTES_MAX)
    throw new DomainError('tooLarge', `An item has at most ${BODY_BYTES_MAX} bytes.`);
  written.value = undefined;
  return { kind: 'put', key, encoding, body, ttlSec, value, rid, flags };
}

function present(stored: Item | undefined): Item {
  const current = visible(stored);
  if (current === undefined) throw itemNotFound();
  return current;
}

/** An internal item is absent for all but updaters. */
export function visible(stored: Item | undefined): Item | undefined {
  return stored?.isInternal === true ? undefined : stored;
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
