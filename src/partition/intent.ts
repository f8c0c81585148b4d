/**
 * A write as a pure, synchronous decision: what is stored now → what shall be stored. The committer runs it with
 * nothing in between, so etag checks, upserts, batches and patches need no locks.
 */
import { type Bytes, DomainError, unreachable } from '../base/index.ts';
import type { Encoding, Value } from '../value/index.ts';
import type { IndexState } from './index-state.ts';
import type { Item, ItemKey, Lsn } from './item.ts';

export interface WriteIntent {
  /** Every item it reads or writes; all of one logical partition. */
  readonly keys: readonly ItemKey[];
  /** `current[i]` is the item of `keys[i]`. Throws a DomainError to refuse; then nothing of it is applied. */
  decide(current: readonly (Item | undefined)[]): readonly Mutation[];
  /** Set by movers only: the writes happened elsewhere, at this LSN or before; they get no LSN of their own. */
  readonly movedLsn?: Lsn;
  /** Set by the builder of an index only: everything up to here is indexed when the intent is durable. */
  readonly indexState?: IndexState;
}

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
    }
  | { readonly kind: 'delete'; readonly key: ItemKey }
  /** The item as it stands in another partition. */
  | { readonly kind: 'adopt'; readonly key: ItemKey; readonly item: Item }
  /** The item stays as it is and is indexed anew. */
  | { readonly kind: 'reindex'; readonly key: ItemKey };

/** One operation on one item as plain data, so that it can travel to another thread or machine. */
export type ItemOp =
  | {
      readonly kind: 'create' | 'upsert' | 'replace';
      readonly key: ItemKey;
      readonly encoding: Encoding;
      readonly body: Bytes;
      readonly ttlSec: number;
      readonly value?: Value;
      readonly ifMatch?: string | undefined;
    }
  | { readonly kind: 'delete'; readonly key: ItemKey; readonly ifMatch?: string | undefined };

/** The intent of one operation. */
export function intentOf(op: ItemOp): WriteIntent {
  return { keys: [op.key], decide: ([current]) => [decideOp(op, current)] };
}

export function decideOp(op: ItemOp, current: Item | undefined): Mutation {
  switch (op.kind) {
    case 'create':
      if (current !== undefined)
        throw new DomainError('itemExists', 'Resource with specified id or name already exists.');
      return putOf(op);
    case 'replace':
      if (current === undefined) throw itemNotFound();
      checkMatch(op.ifMatch, current);
      return putOf(op);
    case 'upsert':
      if (current !== undefined) checkMatch(op.ifMatch, current);
      return putOf(op);
    case 'delete':
      if (current === undefined) throw itemNotFound();
      checkMatch(op.ifMatch, current);
      return { kind: 'delete', key: op.key };
    default:
      return unreachable(op);
  }
}

function putOf({
  key,
  encoding,
  body,
  ttlSec,
  value,
}: ItemOp & { kind: 'create' | 'upsert' | 'replace' }): Mutation {
  return { kind: 'put', key, encoding, body, ttlSec, value };
}

/** HTTP's If-Match: an etag, or `*` for whatever is there. */
function checkMatch(ifMatch: string | undefined, current: Item): void {
  if (ifMatch === undefined || ifMatch === '*' || ifMatch === current.etag) return;
  throw new DomainError(
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
