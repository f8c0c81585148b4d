/** An item in a transaction: what was read of it, and what the transaction makes of it. */
import type { Bytes } from '../../base/index.ts';
import type { CheckedOp, Item, ItemKey, Put, TransactionOp } from '../../partition/index.ts';
import type { ContainerName } from '../container/container-name.ts';

export interface TransactionEntry {
  readonly container: ContainerName;
  readonly key: ItemKey;
  /** As it was read; undefined where there was no item. */
  readonly etag: string | undefined;
  /** The rid of the stored item. */
  readonly rid: number | undefined;
  /** Undefined where it is only read. */
  write: OwnWrite | undefined;
}

/** The last write of an item; without a put it is deleted. */
export interface OwnWrite {
  readonly put: Put | undefined;
  /** As the transaction sees it, with a provisional etag. */
  readonly item: Item | undefined;
}

/** As operations of one command: the check of what was read, then the write. */
export function toTransactionOps({ key, etag, write }: TransactionEntry): readonly TransactionOp[] {
  const expect: TransactionOp = { kind: 'expect', key, etag };
  if (write === undefined) return [expect];
  if (write.put !== undefined) return [expect, { ...write.put, kind: 'upsert' }];
  return etag === undefined ? [expect] : [expect, { kind: 'delete', key }];
}

/** As a prepared operation. The decoded body is not kept: many would take much memory. */
export function toCheckedOp({ key, etag, write }: TransactionEntry): CheckedOp {
  if (write?.put !== undefined) {
    const { value: _, ...put } = write.put;
    return { kind: etag === undefined ? 'create' : 'replace', key, etag, put };
  }
  return { kind: write === undefined || etag === undefined ? 'read' : 'delete', key, etag };
}

export function bodyOf({ write }: TransactionEntry): Bytes | undefined {
  return write?.put?.body;
}
