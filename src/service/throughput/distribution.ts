/** The division of a container's throughput among its partitions: even, or as the operator asks for hot ones. */
import { DomainError } from '../../base/index.ts';
import type { PartitionRecord } from '../../catalog/index.ts';

/** RU/s by partition id. Partitions that are not named divide the rest evenly. */
export type Distribution = ReadonlyMap<string, number>;

/** No partition is named: an even division. */
export const EVEN: Distribution = new Map();

/** RU/s that a partition keeps at least, or its even share where that is less: no partition is starved. */
const LEAST = 100;

interface DistributionBounds {
  /** RU/s of the container. */
  readonly throughput: number;
  /** The most one partition serves, RU/s. */
  readonly partitionLimit: number;
}

/** The partitions with their new fractions. Throws `invalidInput` for a division that is impossible. */
export function distribute(
  partitions: readonly PartitionRecord[],
  wanted: Distribution,
  { throughput, partitionLimit }: DistributionBounds,
): readonly PartitionRecord[] {
  const least = Math.min(LEAST, throughput / partitions.length);
  const ids = new Set(partitions.map(({ id }) => id));
  let named = 0;
  for (const [id, requestUnits] of wanted) {
    if (!ids.has(id)) throw invalid(`The container has no partition ${id}.`);
    if (!(requestUnits >= least && requestUnits <= partitionLimit))
      throw invalid(`A partition may have ${least} to ${partitionLimit} RU/s.`);
    named += requestUnits;
  }
  const others = partitions.length - wanted.size;
  const rest = throughput - named;
  const isImpossible = others === 0 ? Math.abs(rest) > 1e-6 : rest / others < least;
  if (isImpossible)
    throw invalid(
      `The container has ${throughput} RU/s: ${named} for ${wanted.size} partitions leaves ${rest} for the other ${others}.`,
    );
  return partitions.map((partition) => ({
    ...partition,
    throughputFraction: (wanted.get(partition.id) ?? rest / others) / throughput,
  }));
}

function invalid(message: string): DomainError {
  return new DomainError('invalidInput', message);
}
