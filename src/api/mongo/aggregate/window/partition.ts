/** What computes one output field of `$setWindowFields`. */
import type { Bson, BsonDocument } from '../../../../value/index.ts';

/** The documents of the frame around one, from the first up to and without the last; asked for one after the other. */
export type Window = (at: number) => readonly [number, number];

/** The values of one output field, one for each document of the partition. */
export type PartitionFunction = (
  documents: readonly BsonDocument[],
  window: Window,
) => (Bson | undefined)[];
