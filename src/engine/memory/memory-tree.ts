/** The sorted map under the memory engine. */
import { type Bytes, compareBytes, newSortedMap, type SortedMap } from '../../base/index.ts';

export type Tree = SortedMap<Bytes, Bytes>;

export function newTree(): Tree {
  return newSortedMap(compareBytes);
}
