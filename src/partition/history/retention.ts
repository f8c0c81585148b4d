/**
 * Since when a partition keeps versions. Merged partitions had different LSNs, so the beginning is kept per part of the
 * hash space. Stored as JSON when retention begins, when versions expire and after a move.
 */
import {
  type Bytes,
  bytesToText,
  compareBytes,
  DomainError,
  textToBytes,
} from '../../base/index.ts';
import { epkFromHex, epkToHex } from '../../value/index.ts';
import type { Lsn } from '../item/item.ts';
import type { EpkRange } from '../read/scan.ts';

/** In [min, max) every version after `floor` is kept. Effective partition keys in hexadecimal. */
interface Retained {
  readonly min: string;
  readonly max: string;
  readonly floor: Lsn;
}

export type Retention = readonly Retained[];

export function newRetention(floor: Lsn): Retention {
  return [{ min: '', max: 'FF', floor }];
}

/** Versions up to `floor` were deleted. */
export function raiseFloor(retention: Retention, floor: Lsn): Retention {
  return retention.map((part) => (part.floor >= floor ? part : { ...part, floor }));
}

/** The part of a retention that lies in a range. */
export function retainedWithin(retention: Retention, range: EpkRange): Retention {
  const [low, high] = [epkToHex(range.min), epkToHex(range.max)];
  return retention.flatMap(({ min, max, floor }) => {
    const [, from] = [min, low].sort() as [string, string];
    const [to] = [max, high].sort() as [string, string];
    return from < to ? [{ min: from, max: to, floor }] : [];
  });
}

/** Throws where some version after `after` in the range may be deleted. */
export function checkRetained(
  retention: Retention | undefined,
  after: Lsn,
  within: EpkRange | undefined,
): void {
  const isKept = retention?.every(
    ({ min, max, floor }) =>
      after >= floor ||
      (within !== undefined &&
        (compareBytes(epkFromHex(max), within.min) <= 0 ||
          compareBytes(within.max, epkFromHex(min)) <= 0)),
  );
  if (isKept !== true) throw outsideRetention();
}

export function outsideRetention(): DomainError {
  return new DomainError(
    'invalidInput',
    'The position is outside the retention period of the container. ' +
      'You must read the change feed from within the retention period.',
  );
}

export function encodeRetention(retention: Retention): Bytes {
  return textToBytes(JSON.stringify({ v: 1, kept: retention }));
}

export function decodeRetention(bytes: Bytes): Retention {
  const { v, kept } = JSON.parse(bytesToText(bytes));
  if (v !== 1) throw new DomainError('unavailable', `Retention format ${v} is not understood.`);
  return kept;
}
