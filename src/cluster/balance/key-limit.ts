/**
 * Writes to a physical partition that is near a limit: of a logical partition, which cannot be split, or of a fixed
 * container, which is not. At its limit it stops growing; everything else goes on.
 */
import { bytesToLatin1, DomainError, equalBytes } from '../../base/index.ts';
import type {
  BodyFinisher,
  Item,
  ItemKey,
  Mutation,
  Partition,
  StepCheck,
  WriteCommand,
} from '../../partition/index.ts';
import type { Epk } from '../../value/index.ts';
import type { LoadListener } from '../cluster-context.ts';
import type { WriteLimits } from '../routing/partition-handle.ts';
import type { Route } from '../routing/routing-map.ts';

/** From this share of a limit on writes are checked against it, and the operator is warned. */
export const NEAR_SHARE = 0.8;

interface LimitedWrite {
  readonly route: Route;
  readonly partition: Partition;
  readonly limits: WriteLimits;
  /** RU/s from which on a container with a key has as many partitions as it needs. */
  readonly unlimitedFrom: number;
  readonly load: LoadListener;
}

/** The command as a partition near a limit takes it. */
export function limitedCommand(command: WriteCommand, write: LimitedWrite): WriteCommand {
  return isNearLimit(command.keys, write) ? withinLimits(command, write) : command;
}

/** Checks every write of a sequence by itself; undefined where none is near a limit. */
export function stepCheck(
  keys: readonly ItemKey[],
  write: LimitedWrite,
): (() => StepCheck) | undefined {
  if (!isNearLimit(keys, write)) return undefined;
  const { finisher } = write.route.handle.options;
  return () => {
    const room = new Room(write);
    return (change, previous) => {
      const growth = growthBy(change, previous, finisher);
      if (growth > 0) room.check(change.key.epk, growth);
      room.take(change.key.epk, growth);
    };
  };
}

/** Notes the written keys, and reports those near their limit. */
function isNearLimit(keys: readonly ItemKey[], { route, limits, load }: LimitedWrite): boolean {
  let isNear = keys.length > 0 && limits.wholeMax !== undefined;
  let last: Epk | undefined;
  for (const { epk, primary } of keys) {
    if (last !== undefined && equalBytes(last, epk)) continue;
    last = epk;
    route.handle.noteWrite(epk);
    const bytes = limits.sizes?.bytesOf(epk);
    if (bytes === undefined) continue;
    isNear = true;
    if (bytes >= limits.keyMax * NEAR_SHARE) load.keyNearLimit(route, { epk, primary, bytes });
  }
  return isNear;
}

/** The same command, refused where it would grow a key or its partition beyond the limit. */
function withinLimits(command: WriteCommand, write: LimitedWrite): WriteCommand {
  const { finisher } = write.route.handle.options;
  return {
    ...command,
    decide: (current, context) => {
      const mutations = command.decide(current, context);
      const room = new Room(write);
      for (const [epk, growth] of growthOf(command, current, mutations, finisher)) {
        if (growth > 0) room.check(epk, growth);
        room.take(epk, growth);
      }
      return mutations;
    },
  };
}

/** The room that is left during one decision. */
class Room {
  readonly #write: LimitedWrite;
  /** Growth by the decision so far: of the partition, and of the keys by their texts. */
  #whole = 0;
  readonly #keys = new Map<string, number>();

  constructor(write: LimitedWrite) {
    this.#write = write;
  }

  take(epk: Epk, growth: number): void {
    const text = bytesToLatin1(epk);
    this.#whole += growth;
    this.#keys.set(text, (this.#keys.get(text) ?? 0) + growth);
  }

  /** Throws where the growth does not fit. */
  check(epk: Epk, growth: number): void {
    const { keyMax, wholeMax, sizes } = this.#write.limits;
    const { itemBytes } = this.#write.partition;
    if (wholeMax !== undefined && itemBytes + this.#whole + growth > wholeMax)
      throw containerFull(wholeMax, this.#write);
    const keyBytes = sizes?.bytesOf(epk);
    if (keyBytes === undefined || sizes === undefined) return;
    // Writes that are decided and not durable yet may all be of this key.
    const undecided = Math.max(0, itemBytes - sizes.totalBytes);
    const own = this.#keys.get(bytesToLatin1(epk)) ?? 0;
    if (keyBytes + undecided + own + growth > keyMax) throw keyFull(keyMax);
  }
}

function keyFull(bytesMax: number): DomainError {
  return new DomainError(
    'partitionKeyFull',
    `Partition key reached maximum size of ${printLimit(bytesMax)}`,
  );
}

/** The same refusal for a fixed container, with advice. */
function containerFull(bytesMax: number, { route, unlimitedFrom }: LimitedWrite): DomainError {
  const hasKey = route.container.partitionKey.systemKey !== true;
  const advice = hasKey
    ? `Scale it to ${unlimitedFrom} RU/s or more, and it is divided among as many partitions as it needs.`
    : 'It has no partition key: migrate its items to a container that has one.';
  return new DomainError(
    'partitionKeyFull',
    `The container has one partition, which reached its maximum size of ${printLimit(bytesMax)}. ${advice}`,
  );
}

/** The growth of every written key, one entry per logical partition. */
function growthOf(
  { keys }: WriteCommand,
  current: readonly (Item | undefined)[],
  mutations: readonly Mutation[],
  finisher: BodyFinisher,
): Iterable<readonly [Epk, number]> {
  const before = new Map(keys.map(({ text }, at) => [text, current[at]]));
  // The last of several writes of one item counts.
  const last = new Map(mutations.map((mutation) => [mutation.key.text, mutation]));
  const byKey = new Map<string, [Epk, number]>();
  for (const [text, mutation] of last) {
    const growth = growthBy(mutation, before.get(text), finisher);
    const { epk } = mutation.key;
    const found = byKey.get(bytesToLatin1(epk));
    if (found === undefined) byKey.set(bytesToLatin1(epk), [epk, growth]);
    else found[1] += growth;
  }
  return byKey.values();
}

function growthBy(mutation: Mutation, current: Item | undefined, finisher: BodyFinisher): number {
  const bytes = current?.body.length ?? 0;
  switch (mutation.kind) {
    case 'put':
      // A finisher adds the same number of bytes with every write of an item.
      return (
        (current === undefined ? mutation.body : finisher(mutation.body, current)).length - bytes
      );
    case 'stamped':
    case 'import':
      return mutation.item.body.length - bytes;
    case 'delete':
      return -bytes;
    case 'reindex':
      return 0;
  }
}

const UNITS = ['bytes', 'KB', 'MB', 'GB', 'TB'];

/** Printed as the cloud service does: `10 GB` is 10 × 1,024³. */
function printLimit(bytes: number): string {
  let value = bytes;
  let unit = 0;
  while (value >= 1024 && unit < UNITS.length - 1) {
    value /= 1024;
    unit++;
  }
  return `${Number(value.toFixed(2))} ${UNITS[unit]}`;
}
