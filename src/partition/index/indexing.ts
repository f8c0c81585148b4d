/**
 * The index entries of an item: a function of the item and the policy, nothing else.
 *
 *   20 term       path8 · value · rid8            → ∅     one per indexed value; arrays and objects as such by kind only
 *                                                       the cells of a geometry likewise, below the step CELLS
 *   21 composite  index2 · value · value … · rid8 → ∅     descending parts with their bits flipped
 *   23 log        number8                         → changes not yet in their place (index-log.ts)
 *   24, 25        the same as 20 and 21, many in one row (posting-block.ts)
 */
import { append, type Bytes, bufferOf, type Steps } from '../../base/index.ts';
import type { KeyRange } from '../../engine/index.ts';
import {
  CELLS,
  type Codec,
  Extended,
  isList,
  isMap,
  KeyWriter,
  type Path,
  parsePath,
  printPath,
  readPath,
  type SpatialGrid,
  type TRUNCATED,
  type Value,
  valueOfKeyText,
} from '../../value/index.ts';
import { type UniqueKeyOptions, UniqueKeys } from '../commit/unique-keys.ts';
import type { Item, Rid } from '../item/item.ts';
import {
  type CompositeMatch,
  CompositeOrders,
  type OrderedPath,
  PREFIX_COMPOSITE,
} from './composite-orders.ts';
import type { IndexChanges } from './index-log.ts';
import { IndexPaths, type IndexRules, PATH_NUMBER_BYTES, pathNumber } from './index-paths.ts';
import { ARRAY_KEY, addTerms, findTerms, OBJECT_KEY, PREFIX_TERM } from './index-terms.ts';
import { noteTextTerms } from './index-text-terms.ts';
import type { PostingList, PostingLists, Terms } from './posting-lists.ts';
import { SpatialTerms } from './spatial-terms.ts';
import { FoundTermPrefixes, isWide, type WideTerms } from './wide-terms.ts';
import { walkText } from './wide-walk.ts';

const PREFIX_INDEX_LOG = 0x23;

export interface IndexingOptions extends IndexRules {
  /** `none`: no entries at all. */
  readonly isOff: boolean;
  readonly composites: readonly (readonly CompositePart[])[];
  /** Not a part of any index that queries use, and never changed. */
  readonly uniqueKeys?: UniqueKeyOptions | undefined;
  /** Reads the stored bodies. */
  readonly codec: Codec;
  /** Indexed as if the item had them, in place of what it holds by that name. */
  readonly computed?: readonly ComputedProperty[];
  /** Geometries found by their cells, whatever the paths included and excluded. */
  readonly spatial?: readonly SpatialPath[];
}

export interface SpatialPath {
  readonly path: string;
  readonly grid: SpatialGrid;
  /** Changes with the grid. */
  readonly gridName: string;
}

/** A property that an item does not hold but has, by the home API's word. */
export interface ComputedProperty {
  readonly name: string;
  /** Changes with what `compute` gives. */
  readonly definition: string;
  /** Pure. Where it throws the item does not have the property. */
  compute(item: Value): Value;
}

interface CompositePart {
  readonly path: string;
  readonly isDescending: boolean;
}

const RID_BYTES = 8;
/** Behind prefix and path number. */
const VALUE_START = 1 + PATH_NUMBER_BYTES;

const NONE: readonly string[] = [];

/** Queries ask for few paths; a client that makes paths up must not fill the memory. */
const PREFIXES_MAX = 1000;

const writer = new KeyWriter(1024);
const part = new KeyWriter(1024);

export class Indexing {
  readonly options: IndexingOptions;
  /** Undefined where any two items may have the same values. */
  readonly unique: UniqueKeys | undefined;
  /** Changes with everything that changes the entries of an item. */
  readonly fingerprint: string;
  readonly #paths: IndexPaths;
  readonly #computed: readonly ComputedProperty[];
  readonly #spatial: readonly SpatialTerms[];
  /** Paths that queries asked for; null where not indexed. */
  readonly #prefixes = new Map<string, Bytes | null>();
  readonly #composites: readonly (readonly OrderedPath[])[];
  readonly #orders: CompositeOrders;
  /** Whether all entries are those of the values that stand in an item's JSON text. */
  readonly #areTermsOfText: boolean;

  constructor(options: IndexingOptions) {
    this.options = options;
    const { uniqueKeys } = options;
    this.unique = uniqueKeys && new UniqueKeys(uniqueKeys, options.codec);
    const { isOff, included, excluded, always, computed = [], spatial = [] } = options;
    const composites = options.composites.map(beginningAscending);
    // Left out where there are none: what was indexed before there were any stays as it is.
    const definitions = computed.map(({ name, definition }) => [name, definition]);
    this.fingerprint = JSON.stringify({
      v: 2,
      isOff,
      included,
      excluded,
      always,
      composites,
      computed: computed.length > 0 ? definitions : undefined,
      spatial:
        spatial.length > 0 ? spatial.map(({ path, gridName }) => [path, gridName]) : undefined,
    });
    this.#spatial = spatial.map(({ path, grid }) => {
      const parsed = parsePath(path);
      return new SpatialTerms(parsed, grid, termPrefix([...parsed, CELLS]));
    });
    this.#computed = computed;
    this.#paths = new IndexPaths({ ...options, alone: computed.map(({ name }) => name) });
    this.#composites = composites.map((parts) =>
      parts.map(({ path, isDescending }) => ({ path: parsePath(path), isDescending })),
    );
    this.#orders = new CompositeOrders(this.#composites);
    this.#areTermsOfText =
      !isOff &&
      options.codec.encoding === 'json' &&
      computed.length + spatial.length + composites.length === 0;
  }

  /** Where the terms of a path begin; undefined where it is not indexed. */
  termsOf(path: Path): Bytes | undefined {
    const text = printPath(path);
    const known = this.#prefixes.get(text);
    if (known !== undefined) return known === null ? undefined : known;
    const prefix = this.#isIndexed(path) ? termPrefix(path) : undefined;
    if (this.#prefixes.size >= PREFIXES_MAX) this.#prefixes.clear();
    this.#prefixes.set(text, prefix ?? null);
    return prefix;
  }

  #isIndexed(path: Path): boolean {
    if (this.options.isOff) return false;
    if (path.at(-1) !== CELLS) return this.#paths.isIndexed(path);
    return this.gridOf(path.slice(0, -1)) !== undefined;
  }

  /** The cells by which geometries at a path are found; undefined where they are not. */
  gridOf(path: Path): SpatialGrid | undefined {
    if (this.#spatial.length === 0 || this.options.isOff) return undefined;
    const text = printPath(path);
    return this.#spatial.find((spatial) => spatial.text === text)?.grid;
  }

  /** The composite index that has this order, as it is or backwards in every part. */
  compositeFor(parts: readonly OrderedPath[]): CompositeMatch | undefined {
    return this.#orders.match(parts);
  }

  /** All entries of an item. `value` is its decoded body where the caller has it. */
  entriesOf(item: Item, decoded: Value = this.options.codec.decode(item.body)): readonly string[] {
    if (this.options.isOff) return [];
    const value = this.#computed.length === 0 ? decoded : this.#withComputed(decoded);
    const entries: string[] = [];
    addTerms(value, this.#paths.root(), item.rid, entries);
    for (const stem of this.#cellTermPrefixes(value))
      entries.push(writer.reset().raw(Buffer.from(stem, 'latin1')).u64(item.rid).takeText());
    this.#composites.forEach((parts, index) => {
      writer.reset().u8(PREFIX_COMPOSITE).u16(index);
      for (const { path, isDescending } of parts)
        writeCompositePart(readPath(value, path), isDescending);
      entries.push(writer.u64(item.rid).takeText());
    });
    return entries;
  }

  /** Whether an item has an entry that begins so. */
  hasTerm(item: Item, beginning: string): boolean {
    return this.entriesOf(item).some((entry) => entry.startsWith(beginning));
  }

  /** Whether the entries of a wide item are found ahead of its write, in slices. */
  isAhead(body: Bytes): boolean {
    return !this.options.isOff && this.options.codec.encoding === 'json' && isWide(body);
  }

  /**
   * The entries of a wide item, in slices.
   * @param rid - of an item as it is stored; undefined where the body is not sealed yet, which `sealedStems` completes.
   */
  *findAhead(body: Bytes, rid: Rid | undefined): Steps<WideTerms> {
    const found = new FoundTermPrefixes();
    const names = new Set(this.#computed.map(({ name }) => name));
    if (!(yield* walkText(bufferOf(body), this.#paths.root(), names, found))) {
      // An unusual text, of which there should be none: in one piece.
      found.clear();
      const entries: string[] = [];
      addTerms(this.options.codec.decode(body), this.#paths.root(), 0, entries);
      for (const entry of entries) found.add(entry.slice(0, -RID_BYTES));
    }
    if (rid !== undefined) for (const stem of this.#wholeStems(body)) found.add(stem);
    return yield* found.terms(rid);
  }

  /** Entries of an item beside those of the values that stood in its body before it was sealed. */
  sealedStems({ body }: Item, added: Value): readonly string[] {
    const entries: string[] = [];
    if (isMap(added))
      for (const name in added) addTerms(added[name], this.#paths.root().child(name), 0, entries);
    const stems = entries.map((entry) => entry.slice(0, -RID_BYTES));
    append(stems, this.#wholeStems(body));
    return stems;
  }

  /** Stems that only the whole item tells. */
  #wholeStems(body: Bytes): readonly string[] {
    if (this.#computed.length + this.#spatial.length + this.#composites.length === 0) return NONE;
    const value = this.#withComputed(this.options.codec.decode(body));
    const entries: string[] = [];
    if (isMap(value))
      for (const { name } of this.#computed)
        addTerms(value[name], this.#paths.root().child(name), 0, entries);
    const stems = entries.map((entry) => entry.slice(0, -RID_BYTES));
    append(stems, this.#cellTermPrefixes(value));
    this.#composites.forEach((parts, index) => {
      stems.push(compositeStem(value, parts, index));
    });
    return stems;
  }

  #cellTermPrefixes(item: Value): readonly string[] {
    return this.#spatial.length === 0
      ? NONE
      : this.#spatial.flatMap((terms) => terms.termPrefixesOf(item));
  }

  /** The item as its index sees it. */
  #withComputed(item: Value): Value {
    if (!isMap(item)) return item;
    const seen: Record<string, Value> = { ...item };
    for (const property of this.#computed) seen[property.name] = computedOf(property, item);
    return seen;
  }

  /**
   * Notes all entries of an item as it is stored, and leaves their number with it; false where that takes its value.
   * @param isNew - as for `find`.
   */
  noteText(item: Item, owner: PostingLists, isNew: boolean): boolean {
    if (!this.#areTermsOfText) return false;
    const into = { owner, root: this.#paths.root(), rid: item.rid, isNew, count: 0 };
    if (!noteTextTerms(bufferOf(item.body), into)) return false;
    item.indexEntryCount = into.count;
    owner.size += into.count;
    return true;
  }

  /**
   * Where all entries of an item belong. Leaves their number with the item. `value` as for `entriesOf`.
   * @param isNew - of an item that never had entries: rare values of others need not be looked for.
   */
  find(item: Item, value: Value, owner: PostingLists, isNew = false): Terms {
    const found: PostingList[] = [];
    const stems: string[] = [];
    if (!this.options.isOff) {
      const body = value === undefined ? this.options.codec.decode(item.body) : value;
      const decoded = this.#computed.length === 0 ? body : this.#withComputed(body);
      const root = this.#paths.root();
      findTerms(decoded, root, { owner, root, found, termPrefixes: isNew ? stems : undefined });
      for (const stem of this.#cellTermPrefixes(decoded)) found.push(owner.of(stem));
      this.#composites.forEach((parts, index) => {
        const stem = compositeStem(decoded, parts, index);
        if (isNew) stems.push(stem);
        else found.push(owner.of(stem));
      });
      item.indexEntryCount = found.length + stems.length;
    }
    // Exactly as long as it is: many of them wait for the disk.
    return { owner, indexing: this, postings: found.slice(), termPrefixes: stems.slice() };
  }
}

/** What cannot be computed of an item is not there: a definition must keep nobody from writing, nor an index from growing. */
function computedOf({ compute }: ComputedProperty, item: Value): Value {
  try {
    return compute(item);
  } catch {
    return undefined;
  }
}

/**
 * The same index read the other way round: its entries of equal values lie by rising rid, and rows of equal keys are wanted
 * by falling rid where the first key falls.
 */
function beginningAscending(parts: readonly CompositePart[]): readonly CompositePart[] {
  if (parts[0]?.isDescending !== true) return parts;
  return parts.map(({ path, isDescending }) => ({ path, isDescending: !isDescending }));
}

/** A value inside a composite key; every part ends by itself, so flipping all its bits reverses its order. */
export function compositePart(value: Value, isDescending: boolean): Bytes {
  const isScalar = typeof value !== 'object' || value === null || value instanceof Extended;
  const bytes = isScalar
    ? part.reset().value(value).take()
    : Uint8Array.from(isList(value) ? ARRAY_KEY : OBJECT_KEY);
  if (isDescending)
    for (let at = 0; at < bytes.length; at++) bytes[at] = (bytes[at] as number) ^ 0xff;
  return bytes;
}

function compositeStem(value: Value, parts: readonly OrderedPath[], index: number): string {
  writer.reset().u8(PREFIX_COMPOSITE).u16(index);
  for (const { path, isDescending } of parts)
    writeCompositePart(readPath(value, path), isDescending);
  return writer.takeText();
}

function writeCompositePart(value: Value, isDescending: boolean): void {
  // Most are texts that ascend: they need no place of their own first.
  if (typeof value === 'string' && !isDescending) writer.value(value);
  else writer.raw(compositePart(value, isDescending));
}

/** What has to change so that the index of `before` becomes that of `after`. */
export function difference(before: readonly string[], after: readonly string[]): IndexChanges {
  const old = new Set(before);
  const added = after.filter((entry) => !old.delete(entry));
  return { removed: [...old], added };
}

/** The rid at the end of an entry. */
export function ridOfEntry(entry: string): Rid {
  const at = entry.length - RID_BYTES;
  return wordAt(entry, at) * 2 ** 32 + wordAt(entry, at + 4);
}

function wordAt(entry: string, at: number): number {
  const upper = (entry.charCodeAt(at) << 8) | entry.charCodeAt(at + 1);
  return upper * 0x10000 + ((entry.charCodeAt(at + 2) << 8) | entry.charCodeAt(at + 3));
}

/** The value of a term entry; TRUNCATED where the entry does not hold all of it. */
export function valueOfTerm(entry: string): Value | typeof TRUNCATED {
  return valueOfKeyText(entry, VALUE_START, entry.length - RID_BYTES);
}

/** Whether two term entries hold the same value of the same path. */
export function isSameTerm(a: string, b: string): boolean {
  return a.length === b.length && a.slice(0, -RID_BYTES) === b.slice(0, -RID_BYTES);
}

/** Where the terms of a path begin: prefix and path number. */
export function termPrefix(path: Path): Bytes {
  return writer.reset().u8(PREFIX_TERM).raw(pathNumber(path)).take();
}

export function indexLogKey(number: number): Bytes {
  return writer.reset().u8(PREFIX_INDEX_LOG).u64(number).take();
}

/** All entries of every index. */
export const INDEX_ENTRIES: KeyRange = {
  start: Uint8Array.of(PREFIX_TERM),
  end: Uint8Array.of(PREFIX_INDEX_LOG),
};

export const INDEX_LOG_RANGE: KeyRange = {
  start: Uint8Array.of(PREFIX_INDEX_LOG),
  end: Uint8Array.of(PREFIX_INDEX_LOG + 1),
};

/** The same in every form, and the log of those not yet in their place. */
export const INDEX_RANGE: KeyRange = {
  start: Uint8Array.of(PREFIX_TERM),
  end: Uint8Array.of(PREFIX_TERM + 0x10),
};
