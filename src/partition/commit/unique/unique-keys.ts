/**
 * Unique keys: no two items of one logical partition have the same values at the paths of a constraint. Each item has
 * one entry per constraint, stored in the same commit:
 *
 *   12 unique  id4 · sha256(logical partition · values) → primary key of the item
 *
 * where the constraint is that of a declared index with this id; in containers of index format 1 there is no id, and
 * the place of the constraint in the policy is hashed instead. A missing value counts as null. The hash keeps keys
 * short, whatever the values are. A multikey index has an entry for every element of an array. The
 * home API may make other values of the body.
 */
import { createHash } from 'node:crypto';
import { type Bytes, bytesToLatin1 } from '../../../base/index.ts';
import type { KeyRange } from '../../../engine/index.ts';
import {
  type Codec,
  KeyWriter,
  type Path,
  parsePath,
  readPath,
  type Value,
  type ValueMap,
} from '../../../value/index.ts';
import type { ComputedEntries } from '../../index/declared/computed-entries.ts';
import {
  type IndexFilterTest,
  multikeyValues,
  passes,
} from '../../index/declared/declared-values.ts';
import type { Item } from '../../item/item.ts';
import { epkOfPrimary, PREFIX_UNIQUE } from '../../item/keyspace.ts';

const writer = new KeyWriter(1024);

/** The values that no other item may have, made of a body by the home API. Pure, and never throws. */
export type UniqueValues = (body: Bytes) => readonly (readonly Value[])[];

interface UniqueConstraint {
  /** The declared index; undefined: the place of the constraint tells it apart (index format 1). */
  readonly id?: number;
  readonly paths: readonly string[];
  readonly isMultikey?: boolean;
  /** Items without all of the values are not compared. */
  readonly isSparse?: boolean;
  /** Only items that pass are compared. */
  readonly filter?: readonly IndexFilterTest[];
  /** Makes the values that are compared, where they are not those at the paths. */
  readonly computed?: ComputedEntries;
  /** Makes them of the body, whatever the entries are. */
  readonly uniqueValues?: UniqueValues;
}

export interface UniqueKeyOptions {
  readonly constraints: readonly UniqueConstraint[];
  readonly partitionKey: readonly string[];
}

interface PreparedConstraint extends UniqueConstraint {
  readonly parsed: readonly Path[];
}

export class UniqueKeys {
  readonly #constraints: readonly PreparedConstraint[];
  readonly #partitionKey: readonly Path[];
  readonly #codec: Codec;
  /** Reads what the constraints are about. */
  readonly #read: (body: Bytes) => Value;

  constructor({ constraints, partitionKey }: UniqueKeyOptions, codec: Codec) {
    this.#constraints = constraints.map((constraint) => ({
      ...constraint,
      parsed: constraint.paths.map(parsePath),
    }));
    this.#partitionKey = partitionKey.map(parsePath);
    this.#codec = codec;
    const paths = [...this.#partitionKey, ...this.#constraints.flatMap(pathsOf)];
    const names = new Set(paths.map(([name]) => String(name)));
    const isMade = this.#constraints.some(
      ({ computed, uniqueValues }) => computed !== undefined && uniqueValues === undefined,
    );
    const read = isMade ? undefined : codec.fields?.(names);
    this.#read = read ?? ((body) => codec.decode(body));
  }

  /** The declared indexes among the constraints. */
  get ids(): readonly number[] {
    return this.#constraints.flatMap(({ id }) => (id === undefined ? [] : [id]));
  }

  /** Keys of the unique entries of an item, as texts. */
  entriesOf({ primary, body }: Item, value?: Value): readonly string[] {
    return this.entriesOfBody(primary, body, value);
  }

  /** The entries of an item for one declared index. */
  entriesOfIndex(item: Item, id: number): readonly string[] {
    const beginning = indexPrefix(id);
    return this.entriesOf(item).filter((entry) => entry.startsWith(beginning));
  }

  /**
   * The entries that an item gets and loses by a change.
   * @param value - the decoded body after the change, where the caller has it.
   */
  changes(before: Item | undefined, after: Item | undefined, value: Value): UniqueChanges {
    const old = before === undefined ? [] : this.entriesOf(before);
    const now = after === undefined ? [] : this.entriesOf(after, value);
    return uniqueChanges(old, now);
  }

  /** The constraint of an entry, with the values that an item has at its paths. */
  violated(entry: string, body: Bytes, value: Value): ValueMap | undefined {
    const found = this.#constraints.find(
      ({ id }) => id !== undefined && entry.startsWith(indexPrefix(id)),
    );
    if (found === undefined) return undefined;
    const document = value ?? this.#codec.decode(body);
    const values = found.parsed.map((path) => readPath(document, path));
    return {
      indexId: found.id,
      values: Object.fromEntries(found.paths.map((path, at) => [path, values[at] ?? null])),
    };
  }

  /** The same for a body that is not stored yet. `value` is the decoded body, where the caller has it. */
  entriesOfBody(primary: Bytes, body: Bytes, value?: Value): readonly string[] {
    const document = value ?? this.#read(body);
    writer.reset().bytes(epkOfPrimary(primary));
    // The partition key is part of the scope, because two of them may have one hash.
    for (const path of this.#partitionKey) writer.value(scalar(readPath(document, path)));
    const scope = writer.take();
    return this.#constraints.flatMap((constraint, place) =>
      tuplesOf(constraint, document, body).map((values) => {
        writer.reset();
        if (constraint.id === undefined) writer.u16(place);
        for (const value of values) writer.value(value ?? null);
        const hash = createHash('sha256').update(scope).update(writer.take()).digest();
        const beginning = constraint.id === undefined ? UNIQUE : indexPrefix(constraint.id);
        return beginning + bytesToLatin1(hash);
      }),
    );
  }
}

function pathsOf({ parsed, filter = [], uniqueValues }: PreparedConstraint): readonly Path[] {
  if (uniqueValues !== undefined) return [];
  return [...parsed, ...filter.map(({ path }) => parsePath(path))];
}

const UNIQUE = String.fromCharCode(PREFIX_UNIQUE);

/** The beginning of the entries of a declared index, as text. */
function indexPrefix(id: number): string {
  return writer.reset().u8(PREFIX_UNIQUE).u32(id).takeText();
}

/** All unique entries of a declared index. */
export function uniqueRangeOfIndex(id: number): KeyRange {
  return {
    start: Buffer.from(indexPrefix(id), 'latin1'),
    end: Buffer.from(indexPrefix(id + 1), 'latin1'),
  };
}

/** The values that no other item may have. */
function tuplesOf(
  { parsed, isMultikey, isSparse, filter, computed, uniqueValues }: PreparedConstraint,
  document: Value,
  body: Bytes,
): readonly (readonly Value[])[] {
  if (uniqueValues !== undefined) return uniqueValues(body);
  if (computed !== undefined) return computed(document, body);
  if (filter !== undefined && !passes(filter, document)) return [];
  const values = parsed.map((path) =>
    isMultikey === true ? multikeyValues(document, path) : [readPath(document, path)],
  );
  if (isSparse === true && values.every(([value]) => value === undefined)) return [];
  let tuples: (readonly Value[])[] = [[]];
  for (const alternatives of values)
    tuples = tuples.flatMap((tuple) => alternatives.map((value) => [...tuple, value]));
  return tuples;
}

/** Objects and arrays are no values of a partition key. */
function scalar(value: Value): Value {
  return typeof value === 'object' && value !== null ? undefined : value;
}

/** Entries to delete and to put when an item changes. */
interface UniqueChanges {
  readonly removed: readonly string[];
  readonly added: readonly string[];
}

export function uniqueChanges(before: readonly string[], after: readonly string[]): UniqueChanges {
  if (before.length === 0 || after.length === 0) return { removed: before, added: after };
  const [old, now] = [new Set(before), new Set(after)];
  return {
    removed: before.filter((entry) => !now.has(entry)),
    added: after.filter((entry) => !old.has(entry)),
  };
}
