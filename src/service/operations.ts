/** Operations on items as the APIs ask for them, alone or several of one logical partition in a transaction. */
import { BATCH_BYTES_MAX, BATCH_OPERATIONS_MAX, DomainError } from '../base/index.ts';
import type { ContainerRecord } from '../catalog/index.ts';
import type {
  Conditions,
  Item,
  ItemKey,
  ItemOp,
  NewBody,
  ResponseBound,
  TransactionOp,
} from '../partition/index.ts';
import type { Value } from '../value/index.ts';

/** Identifies an item: the values of its partition key paths (undefined where missing), and its row key. */
export interface ItemAddress {
  readonly partitionKey: readonly Value[];
  readonly id: Value;
}

export interface PutOperation extends NewBody, Conditions {
  readonly kind: 'create' | 'upsert' | 'replace';
}

/** The new body is computed from the item as it is when the write is decided: patch, merge, increment. */
export interface UpdateOperation extends Conditions {
  readonly kind: 'update';
  /** Pure and synchronous; throws a DomainError to refuse. Without `createsAbsent` there always is an item. */
  readonly update: (current: Item | undefined) => NewBody;
  readonly createsAbsent: boolean;
}

interface DeleteOperation extends Conditions {
  readonly kind: 'delete';
}

export type WriteOperation = PutOperation | UpdateOperation | DeleteOperation;

export type ItemPut = ItemAddress & PutOperation;
export type ItemWrite = ItemAddress & WriteOperation;

/** An operation of a transaction, which has the partition key. */
export type Operation = { readonly id: Value } & (
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

export function toOp({ encoding }: ContainerRecord, key: ItemKey, write: WriteOperation): ItemOp {
  const { ifMatch, ifNoneMatch } = write;
  switch (write.kind) {
    case 'delete':
      return { kind: 'delete', key, ifMatch, ifNoneMatch };
    case 'update': {
      const { kind, update, createsAbsent } = write;
      return { kind, key, encoding, update, createsAbsent, ifMatch, ifNoneMatch };
    }
    default: {
      const { kind, body, value, ttlSec } = write;
      return { kind, key, encoding, body, value, ttlSec, ifMatch, ifNoneMatch };
    }
  }
}

export function toTransactionOp(
  container: ContainerRecord,
  key: ItemKey,
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
      return toOp(container, key, operation);
  }
}
