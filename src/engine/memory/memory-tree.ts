/** The sorted map under the memory engine, and the one place that knows how its package is exported. */
import sortedBtree from 'sorted-btree';
import { type Bytes, compareBytes } from '../../base/index.ts';

export type Tree = sortedBtree.default<Bytes, Bytes>;

/** A CommonJS package with a property `default`: Node hands out the module, test runners the class itself. */
const exported: unknown = sortedBtree;
const SortedTree =
  typeof exported === 'function' ? (exported as typeof sortedBtree.default) : sortedBtree.default;

export function newTree(): Tree {
  return new SortedTree<Bytes, Bytes>(undefined, compareBytes);
}
