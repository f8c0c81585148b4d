/** Checks that every engine makes of its arguments, so that a mistake shows on the memory engine as well as on disk. */
import { assert, DomainError, KEY_BYTES_MAX, VALUE_BYTES_MAX } from '../base/index.ts';
import type { Batch, KeyRange, ScanOptions } from './engine.ts';
import { integerOfKey, isIntegerKeyed } from './integer-keys.ts';

const NAME_LENGTH_MAX = 200;
const NAME = /^[A-Za-z0-9_-]+(\/[A-Za-z0-9_-]+)*$/;

/** A partition that failed is closed under the readers that it has: their requests are refused, which is no bug. */
export function closedStore(name: string): DomainError {
  return new DomainError('unavailable', `Store ${name} was closed.`);
}

export function checkStoreName(name: string): void {
  assert(name.length <= NAME_LENGTH_MAX && NAME.test(name), `not a store name: ${name}`);
}

export function checkKey(key: Uint8Array): void {
  assert(key.length >= 1 && key.length <= KEY_BYTES_MAX, 'a key has 1 to 2,600 bytes');
  if (isIntegerKeyed(key)) integerOfKey(key);
}

export function checkScan(range: KeyRange, options: ScanOptions): void {
  assert(
    Number.isSafeInteger(options.limit) && options.limit >= 1,
    'a scan has a limit of 1 or more',
  );
  assert(options.bytesMax > 0, 'a scan has a positive byte bound');
  if (options.dereference !== undefined) checkPrefix(options.dereference);
  // A bound may be longer than a key: the successor of the longest key is.
  assert(range.start.length <= KEY_BYTES_MAX + 1, 'a range starts with a key');
  assert(
    range.end === undefined || range.end.length <= KEY_BYTES_MAX + 1,
    'a range ends with a key',
  );
}

export function checkPrefix(prefix: number): void {
  assert(Number.isInteger(prefix) && prefix >= 0 && prefix <= 0xff, 'a prefix is one byte');
}

export function checkBatch(batch: Batch): void {
  for (const { key } of batch.expects ?? []) checkKey(key);
  for (const key of batch.deletes ?? []) checkKey(key);
  for (const { key, value } of batch.puts ?? []) {
    checkKey(key);
    assert(value.length <= VALUE_BYTES_MAX, 'a value has at most 16 MiB and 64 KiB');
  }
  for (const { key, value } of batch.appends ?? []) {
    checkKey(key);
    assert(value.length <= VALUE_BYTES_MAX, 'a value has at most 16 MiB and 64 KiB');
  }
}
