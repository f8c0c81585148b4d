/**
 * Unique keys: no two items of one logical partition have the same values at the paths of a constraint. Each item has
 * one entry per constraint, stored in the same commit:
 *
 *   12 unique  sha256(logical partition · constraint · values) → primary key of the item
 *
 * A missing value counts as null. The hash keeps keys short, whatever the values are.
 */
import { createHash } from 'node:crypto';
import { type Bytes, bytesToLatin1 } from '../../base/index.ts';
import {
  type Codec,
  KeyWriter,
  type Path,
  parsePath,
  readPath,
  type Value,
} from '../../value/index.ts';
import type { Item } from '../item/item.ts';
import { epkOfPrimary, PREFIX_UNIQUE } from '../item/keyspace.ts';

const writer = new KeyWriter(1024);

export interface UniqueKeyOptions {
  /** The paths of each constraint. */
  readonly constraints: readonly (readonly string[])[];
  readonly partitionKey: readonly string[];
}

export class UniqueKeys {
  readonly #constraints: readonly (readonly Path[])[];
  readonly #partitionKey: readonly Path[];
  readonly #codec: Codec;

  constructor({ constraints, partitionKey }: UniqueKeyOptions, codec: Codec) {
    this.#constraints = constraints.map((paths) => paths.map(parsePath));
    this.#partitionKey = partitionKey.map(parsePath);
    this.#codec = codec;
  }

  /** Keys of the unique entries of an item, as texts. */
  entriesOf({ primary, body }: Item, value?: Value): readonly string[] {
    return this.entriesOfBody(primary, body, value);
  }

  /** The same for a body that is not stored yet. `value` is the decoded body, where the caller has it. */
  entriesOfBody(primary: Bytes, body: Bytes, value?: Value): readonly string[] {
    const document = value ?? this.#codec.decode(body);
    writer.reset().bytes(epkOfPrimary(primary));
    // The partition key is part of the scope, because two of them may have one hash.
    for (const path of this.#partitionKey) writer.value(scalar(readPath(document, path)));
    const scope = writer.take();
    return this.#constraints.map((paths, constraint) => {
      writer.reset().u16(constraint);
      for (const path of paths) writer.value(readPath(document, path) ?? null);
      const hash = createHash('sha256').update(scope).update(writer.take()).digest();
      return String.fromCharCode(PREFIX_UNIQUE) + bytesToLatin1(hash);
    });
  }
}

/** Objects and arrays are no values of a partition key. */
function scalar(value: Value): Value {
  return typeof value === 'object' && value !== null ? undefined : value;
}

/** Entries to delete and to put when an item changes. */
export function uniqueChanges(
  before: readonly string[],
  after: readonly string[],
): { readonly removed: readonly string[]; readonly added: readonly string[] } {
  return {
    removed: before.filter((entry) => !after.includes(entry)),
    added: after.filter((entry) => !before.includes(entry)),
  };
}
