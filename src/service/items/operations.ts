/** Operations on items as the APIs ask for them, alone or several of one logical partition in a transaction. */
import {
  BATCH_BYTES_MAX,
  BATCH_OPERATIONS_MAX,
  type Bytes,
  DomainError,
} from '../../base/index.ts';
import type { ContainerRecord } from '../../catalog/index.ts';
import type {
  Conditions,
  ItemKey,
  ItemKeys,
  ItemOp,
  NewBody,
  ResponseBound,
  TransactionOp,
  WriteNote,
} from '../../partition/index.ts';
import type { Value } from '../../value/index.ts';

/** Identifies an item: the values of its partition key paths (undefined where missing), and its row key. */
export interface ItemAddress {
  readonly partitionKey: readonly Value[];
  /** One value (the id, the RowKey), or several where the home API has composite keys. */
  readonly rowKey: readonly Value[];
}

interface Noted {
  /** The write is run once: where its owner has a note, the effect is `kept` with the note as its reply. */
  readonly note?: WriteNote | undefined;
}

export interface PutOperation extends NewBody, Conditions, Noted {
  readonly kind: 'create' | 'upsert' | 'replace';
}

/** The new body is computed from the item as it is when the write is decided: patch, merge, increment. */
export interface UpdateOperation extends Conditions, Noted {
  readonly kind: 'update';
  /** The name of an updater that an API has registered, and its arguments. */
  readonly updater: string;
  readonly args: Bytes;
  /** Where it is false, the updater always gets an item. */
  readonly createsAbsent: boolean;
  /** Row keys of other items of the logical partition that the updater looks at. */
  readonly alsoReads?: readonly (readonly Value[])[];
}

interface DeleteOperation extends Conditions, Noted {
  readonly kind: 'delete';
}

export type WriteOperation = PutOperation | UpdateOperation | DeleteOperation;

export type ItemPut = ItemAddress & PutOperation;
export type ItemWrite = ItemAddress & WriteOperation;

/** An operation of a transaction, which has the partition key. */
export type Operation = Pick<ItemAddress, 'rowKey'> &
  (
    | WriteOperation
    /** Returns the item; `notModified` where it matches `ifNoneMatch`. */
    | ({ readonly kind: 'read' } & Conditions)
    /** Refuses the transaction unless the item has this etag, or with undefined is absent. */
    | { readonly kind: 'expect'; readonly etag: string | undefined }
  );

export interface TransactionBounds {
  readonly operationsMax: number;
  /** Bytes of all bodies together. */
  readonly bytesMax: number;
  /** Bytes of the items returned; undefined: any size. */
  readonly response?: ResponseBound;
}

export const BATCH_BOUNDS: TransactionBounds = {
  operationsMax: BATCH_OPERATIONS_MAX,
  bytesMax: BATCH_BYTES_MAX,
};

export function checkBounds(operations: readonly Operation[], bounds: TransactionBounds): void {
  if (operations.length === 0 || operations.length > bounds.operationsMax)
    throw new DomainError(
      'invalidInput',
      `Batch request has ${operations.length === 0 ? 'no operations' : 'more operations than what is supported'}.`,
    );
  let bytes = 0;
  for (const operation of operations) if ('body' in operation) bytes += operation.body.length;
  if (bytes > bounds.bytesMax) throw new DomainError('tooLarge', 'Request size is too large');
}

/** @param partitionKey - the values of the item's partition key. */
export function toOp(
  { encoding }: ContainerRecord,
  keys: ItemKeys,
  key: ItemKey,
  partitionKey: readonly Value[],
  write: WriteOperation,
): ItemOp {
  const { ifMatch, ifNoneMatch, note } = write;
  switch (write.kind) {
    case 'delete':
      return { kind: 'delete', key, ifMatch, ifNoneMatch, note };
    case 'update': {
      const { kind, updater, args, createsAbsent } = write;
      const alsoReads = write.alsoReads?.map((rowKey) => keys.keyAt(key.epk, partitionKey, rowKey));
      return {
        kind,
        key,
        encoding,
        updater,
        args,
        createsAbsent,
        alsoReads,
        ifMatch,
        ifNoneMatch,
        note,
      };
    }
    default: {
      const { kind, body, value, ttlSec, flags } = write;
      return { kind, key, encoding, body, value, ttlSec, flags, ifMatch, ifNoneMatch, note };
    }
  }
}

export function toTransactionOp(
  container: ContainerRecord,
  keys: ItemKeys,
  key: ItemKey,
  partitionKey: readonly Value[],
  operation: Operation,
): TransactionOp {
  switch (operation.kind) {
    case 'read': {
      const { ifMatch, ifNoneMatch } = operation;
      return { kind: 'read', key, ifMatch, ifNoneMatch };
    }
    case 'expect':
      return { kind: 'expect', key, etag: operation.etag };
    default:
      return toOp(container, keys, key, partitionKey, operation);
  }
}
