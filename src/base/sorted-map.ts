/** An ordered map with cheap copies. Only this file knows how its package is exported. */
import sortedBtree from 'sorted-btree';

export type SortedMap<K, V> = sortedBtree.default<K, V>;

/** The package is CommonJS with a property `default`: Node imports the module, test runners import the class itself. */
const exported: unknown = sortedBtree;
const SortedTree =
  typeof exported === 'function' ? (exported as typeof sortedBtree.default) : sortedBtree.default;

export function newSortedMap<K, V>(compare: (a: K, b: K) => number): SortedMap<K, V> {
  return new SortedTree<K, V>(undefined, compare);
}
