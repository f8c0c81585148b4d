/**
 * Writes to a physical partition that is near a limit: of a logical partition, which cannot be split, or of a fixed
 * container, which is not. At its limit it stops growing; everything else goes on.
 */
import { DomainError } from '../base/index.ts';
import type { BodyFinisher, Item, Mutation, Partition, WriteCommand } from '../partition/index.ts';
import type { Epk } from '../value/index.ts';
import type { LoadListener } from './cluster-context.ts';
import type { WriteLimits } from './partition-handle.ts';
import type { Route } from './routing-map.ts';

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
  const { route, limits } = write;
  const key = command.keys[0];
  if (key === undefined) return command;
  route.handle.noteWrite(key.epk);
  const bytes = limits.sizes?.bytesOf(key.epk);
  if (bytes === undefined && limits.wholeMax === undefined) return command;
  if (bytes !== undefined && bytes >= limits.keyMax * NEAR_SHARE)
    write.load.keyNearLimit(route, { epk: key.epk, primary: key.primary, bytes });
  return withinLimits(command, write);
}

/** The same command, refused where it would grow its key or its partition beyond the limit. */
function withinLimits(command: WriteCommand, write: LimitedWrite): WriteCommand {
  const { finisher } = write.route.handle.options;
  return {
    ...command,
    decide: (current, context) => {
      const mutations = command.decide(current, context);
      const growth = growthOf(command, current, mutations, finisher);
      if (growth > 0) checkRoom(write, command.keys[0]?.epk, growth);
      return mutations;
    },
  };
}

function checkRoom(write: LimitedWrite, epk: Epk | undefined, growth: number): void {
  const { keyMax, wholeMax, sizes } = write.limits;
  const { itemBytes } = write.partition;
  if (wholeMax !== undefined && itemBytes + growth > wholeMax) throw containerFull(wholeMax, write);
  const keyBytes = epk === undefined ? undefined : sizes?.bytesOf(epk);
  if (keyBytes === undefined || sizes === undefined) return;
  // Writes that are decided and not durable yet may all be of this key.
  const undecided = Math.max(0, itemBytes - sizes.totalBytes);
  if (keyBytes + undecided + growth > keyMax) throw keyFull(keyMax);
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

function growthOf(
  { keys }: WriteCommand,
  current: readonly (Item | undefined)[],
  mutations: readonly Mutation[],
  finisher: BodyFinisher,
): number {
  const before = new Map(keys.map(({ text }, at) => [text, current[at]]));
  // The last of several writes of one item counts.
  const last = new Map(mutations.map((mutation) => [mutation.key.text, mutation]));
  let growth = 0;
  for (const [text, mutation] of last) growth += growthBy(mutation, before.get(text), finisher);
  return growth;
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
    case 'adopt':
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
