/** Writes to a logical partition that fills a physical one alone: it cannot be split, so at its limit it stops growing. */
import { type Bytes, DomainError } from '../base/index.ts';
import {
  decideOp,
  type Item,
  type ItemOp,
  intentOf,
  type Partition,
  type Seal,
  type WriteIntent,
} from '../partition/index.ts';

export interface KeyLimit {
  /** Holds the items of one key only. */
  readonly partition: Partition;
  readonly seal: Seal;
  readonly bytesMax: number;
}

/** The intent of an operation that may shrink its logical partition, and grow it up to the limit. */
export function intentWithin(op: ItemOp, limit: KeyLimit): WriteIntent {
  if (op.kind === 'delete') return intentOf(op);
  return {
    keys: [op.key],
    decide: ([current]) => {
      const mutation = decideOp(op, current);
      const growth = growthOf(op.body, current, limit.seal);
      if (growth > 0 && limit.partition.itemBytes + growth > limit.bytesMax)
        throw new DomainError(
          'partitionKeyFull',
          `Partition key reached maximum size of ${printLimit(limit.bytesMax)}`,
        );
      return [mutation];
    },
  };
}

/** What a seal adds is of the same length for every write of an item. */
function growthOf(body: Bytes, current: Item | undefined, seal: Seal): number {
  if (current === undefined) return body.length;
  return seal(body, current).length - current.body.length;
}

const UNITS = ['bytes', 'KB', 'MB', 'GB', 'TB'];

/** As the service writes it: `10 GB` is 10 × 1,024³. */
export function printLimit(bytes: number): string {
  let value = bytes;
  let unit = 0;
  while (value >= 1024 && unit < UNITS.length - 1) {
    value /= 1024;
    unit++;
  }
  return `${Number(value.toFixed(2))} ${UNITS[unit]}`;
}
