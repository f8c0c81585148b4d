/** Writes to a logical partition that fills a physical one alone: it cannot be split, so at its limit it stops growing. */
import { DomainError } from '../base/index.ts';
import type { Item, Mutation, Partition, Seal, WriteIntent } from '../partition/index.ts';

export interface KeyLimit {
  /** Holds the items of one key only. */
  readonly partition: Partition;
  readonly seal: Seal;
  readonly bytesMax: number;
}

/** The same intent, refused where it would grow its logical partition beyond the limit. */
export function intentWithin(intent: WriteIntent, limit: KeyLimit): WriteIntent {
  return {
    ...intent,
    decide: (current, stage) => {
      const mutations = intent.decide(current, stage);
      const before = new Map(intent.keys.map(({ text }, at) => [text, current[at]]));
      let growth = 0;
      // Of several writes of one item the last counts.
      const last = new Map(mutations.map((mutation) => [mutation.key.text, mutation]));
      for (const [text, mutation] of last)
        growth += growthOf(mutation, before.get(text), limit.seal);
      if (growth > 0 && limit.partition.itemBytes + growth > limit.bytesMax)
        throw new DomainError(
          'partitionKeyFull',
          `Partition key reached maximum size of ${printLimit(limit.bytesMax)}`,
        );
      return mutations;
    },
  };
}

function growthOf(mutation: Mutation, current: Item | undefined, seal: Seal): number {
  const bytes = current?.body.length ?? 0;
  switch (mutation.kind) {
    case 'put':
      // What a seal adds is of the same length for every write of an item.
      return (current === undefined ? mutation.body : seal(mutation.body, current)).length - bytes;
    case 'stamped':
    case 'adopt':
      return mutation.item.body.length - bytes;
    case 'delete':
      return -bytes;
    case 'reindex':
      return 0;
  }
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
