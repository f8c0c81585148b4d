/** Makes rows of a global secondary index from items, by the API whose language defines the index. */
import type { ContainerRecord } from '../../catalog/index.ts';
import type { Item, NewBody, Rid } from '../../partition/index.ts';
import type { Encoding, Value } from '../../value/index.ts';

interface IndexRow extends NewBody {
  readonly partitionKey: readonly Value[];
}

export interface Projection {
  rowOf(item: Item): IndexRow;
  /** The id of the row of an item. */
  idOf(rid: Rid): string;
}

export type ProjectionsByEncoding = Readonly<
  Partial<Record<Encoding, (index: ContainerRecord, source: ContainerRecord) => Projection>>
>;
