/** What computes one output field of `$setWindowFields`. */
import type { Bson, BsonDocument } from '../../../../value/index.ts';

/** The documents of the frame around one, from the first up to and without the last; asked for one after the other. */
export type Window = (at: number) => readonly [number, number];

/** The value of an output field for a document of the partition; asked for once for each, one after the other. */
export type Column = (at: number) => Bson | undefined;

export type PartitionFunction = (documents: readonly BsonDocument[], window: Window) => Column;
