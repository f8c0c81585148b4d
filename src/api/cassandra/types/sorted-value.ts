/** Sets and maps as clients send them, in any order, to the one order in which they are kept. */
import { type Bytes, bytesToLatin1 } from '../../../base/index.ts';
import type { CqlType } from './cql-type.ts';
import { compareTyped } from './ordered.ts';
import {
  collectionBytes,
  componentsOf,
  componentTypes,
  elementsOf,
  entriesOf,
  tupleBytes,
} from './values.ts';

export function sortedValue(type: CqlType, bytes: Bytes): Bytes {
  switch (type.kind) {
    case 'native':
      return bytes;
    case 'list': {
      const elements = elementsOf(bytes).map((one) => sortedValue(type.element, one as Bytes));
      return collectionBytes(elements.length, elements);
    }
    case 'set': {
      const elements = elementsOf(bytes).map((one) => sortedValue(type.element, one as Bytes));
      const unique = new Map(elements.map((one) => [bytesToLatin1(one), one]));
      const sorted = [...unique.values()].sort((a, b) => compareTyped(type.element, a, b));
      return collectionBytes(sorted.length, sorted);
    }
    case 'map': {
      const entries = entriesOf(bytes).map(
        ([key, value]) =>
          [sortedValue(type.key, key as Bytes), sortedValue(type.value, value as Bytes)] as const,
      );
      const unique = new Map(entries.map((entry) => [bytesToLatin1(entry[0]), entry]));
      const sorted = [...unique.values()].sort(([a], [b]) => compareTyped(type.key, a, b));
      return collectionBytes(sorted.length, sorted.flat());
    }
    default: {
      const types = componentTypes(type);
      return tupleBytes(
        componentsOf(type, bytes).map(
          (part, at) => part && sortedValue(types[at] as CqlType, part),
        ),
      );
    }
  }
}
