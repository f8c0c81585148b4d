/**
 * The index entries of an item: a function of the item and the policy, nothing else.
 *
 *   20 term       path8 · value · rid8            → ∅     one per indexed value; for arrays and objects their kind;
 *                                                       for geometries their cells, below the step CELLS
 *   21 declared   number · value · value … · rid8 → ∅     several values in one order (declared-indexes.ts)
 *   23 log        number8                         → changes that are not flushed yet (index-log.ts)
 *   24, 25        the same as 20 and 21, many in one row (posting-block.ts)
 */
import { append, type Bytes, bufferOf, type Steps } from '../../../base/index.ts';
import type { KeyRange } from '../../../engine/index.ts';
import {
  CELLS,
  type Codec,
  DECLARED,
  isMap,
  KeyWriter,
  type Path,
  parsePath,
  printPath,
  type SpatialGrid,
  type TRUNCATED,
  type Value,
  valueOfKeyText,
} from '../../../value/index.ts';
import { type UniqueKeyOptions, UniqueKeys } from '../../commit/unique/unique-keys.ts';
import type { Item, Rid } from '../../item/item.ts';
import { beginningAscending, type CompositePart } from '../declared/composite-parts.ts';
import {
  type CompositeMatch,
  type DeclaredIndex,
  DeclaredIndexes,
  type DeclaredRanges,
  type OrderedPath,
  type PartLimit,
} from '../declared/declared-indexes.ts';
import { ridText } from '../memory/index-run.ts';
import type { PostingList, PostingLists, Terms } from '../memory/posting-lists.ts';
import type { IndexChanges } from '../stored/index-log.ts';
import { type ComputedProperty, computedOf } from './computed-property.ts';
import { IndexPaths, type IndexRules, PATH_NUMBER_BYTES, pathNumber } from './index-paths.ts';
import { addTerms, findTerms, PREFIX_TERM } from './index-terms.ts';
import { noteTextTerms } from './index-text-terms.ts';
import { indexedReader } from './indexed-reader.ts';
import { SpatialTerms } from './spatial-terms.ts';
import { FoundTermPrefixes, isWide, type WideTerms } from './wide-terms.ts';
import { walkText } from './wide-walk.ts';

const PREFIX_INDEX_LOG = 0x23;

export interface IndexingOptions extends IndexRules {
  /** `none`: no entries at all. */
  readonly isOff: boolean;
  /** Composite indexes of the policy, built with it (index format 1). */
  readonly composites: readonly (readonly CompositePart[])[];
  /** Indexes with an id and a build of their own. */
  readonly declared?: readonly DeclaredIndex[];
  /** Not part of any index that queries use. */
  readonly uniqueKeys?: UniqueKeyOptions | undefined;
  /** Reads the stored bodies. */
  readonly codec: Codec;
  /** Indexed as if the item had them, instead of its own properties of these names. */
  readonly computed?: readonly ComputedProperty[];
  /** Properties that queries see and items do not have: no index serves them. */
  readonly viewNames?: readonly string[];
  /** Paths of geometries, which are indexed by their cells independently of the other paths. */
  readonly spatial?: readonly SpatialPath[];
}

export interface SpatialPath {
  readonly path: string;
  readonly grid: SpatialGrid;
  /** Changes with the grid. */
  readonly gridName: string;
}

const RID_BYTES = 8;
/** Offset of the value, after prefix and path number. */
const VALUE_START = 1 + PATH_NUMBER_BYTES;

const NONE: readonly string[] = [];

/** Paths kept; a client that makes up paths must not fill the memory. */
const PREFIXES_MAX = 1000;

const writer = new KeyWriter(1024);

export class Indexing {
  readonly options: IndexingOptions;
  /** Undefined where the container has no unique keys. */
  readonly unique: UniqueKeys | undefined;
  /** Differs between policies that give an item different entries. */
  readonly fingerprint: string;
  readonly #paths: IndexPaths;
  readonly #computed: readonly ComputedProperty[];
  readonly #spatial: readonly SpatialTerms[];
  /** Prefixes of the paths of queries; null where not indexed. */
  readonly #prefixes = new Map<string, Bytes | null>();
  readonly #declared: DeclaredIndexes;
  /** Ids of the declared indexes that have entries of their own. */
  readonly declaredIds: readonly number[];
  /** Whether all entries follow from the values in the JSON text of an item. */
  readonly #areTermsOfText: boolean;
  readonly #read: ReturnType<typeof indexedReader>;

  constructor(options: IndexingOptions) {
    this.options = options;
    const { uniqueKeys } = options;
    this.unique = uniqueKeys && new UniqueKeys(uniqueKeys, options.codec);
    const { isOff, included, excluded, always, computed = [], spatial = [] } = options;
    const { declared = [] } = options;
    const composites = options.composites.map(beginningAscending);
    // Empty lists are left out, so that indexes from before these features keep their fingerprint.
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
      return new SpatialTerms(parsed, grid, pathPrefix([...parsed, CELLS]));
    });
    this.#computed = computed;
    this.#paths = new IndexPaths({ ...options, namedOnly: computed.map(({ name }) => name) });
    this.#declared = new DeclaredIndexes([
      ...options.composites.map((parts) => ({ id: undefined, parts })),
      ...declared,
    ]);
    this.declaredIds = declared.flatMap(({ id }) => (id === undefined ? [] : [id]));
    this.#read = indexedReader(options, this.#paths.rootNames());
    this.#areTermsOfText =
      !isOff &&
      options.codec.encoding === 'json' &&
      computed.length + spatial.length + this.#declared.count === 0;
  }

  /** The common prefix of the entries of a path, or of a computed index; undefined where it is not indexed. */
  termsOf(path: Path): Bytes | undefined {
    if (path[0] === DECLARED)
      return this.options.isOff ? undefined : this.#declared.prefixOf(Number(path[1]));
    const text = printPath(path);
    const kept = this.#prefixes.get(text);
    if (kept !== undefined) return kept === null ? undefined : kept;
    const prefix = this.#isIndexed(path) ? pathPrefix(path) : undefined;
    if (this.#prefixes.size >= PREFIXES_MAX) this.#prefixes.clear();
    this.#prefixes.set(text, prefix ?? null);
    return prefix;
  }

  #isIndexed(path: Path): boolean {
    if (this.options.isOff) return false;
    if (this.options.viewNames?.includes(String(path[0])) === true) return false;
    if (path.at(-1) !== CELLS) return this.#paths.isIndexed(path);
    return this.gridOf(path.slice(0, -1)) !== undefined;
  }

  /** The grid of a path with a spatial index; undefined where there is none. */
  gridOf(path: Path): SpatialGrid | undefined {
    if (this.#spatial.length === 0 || this.options.isOff) return undefined;
    const text = printPath(path);
    return this.#spatial.find((spatial) => spatial.text === text)?.grid;
  }

  /** The index with this order, forwards or backwards, among those that are ready. */
  compositeFor(
    parts: readonly OrderedPath[],
    isReady: (id: number) => boolean = () => true,
    limits?: readonly PartLimit[],
  ): CompositeMatch | undefined {
    return this.#declared.match(parts, isReady, limits);
  }

  /** Where a declared index has the entries of some values of its first part. */
  entriesWithin(id: number, ranges: PartLimit['ranges']): readonly KeyRange[] {
    return this.options.isOff ? [] : this.#declared.entriesWithin(id, ranges);
  }

  /** Ranges of the declared index that uses most of the limits, among those that are ready. */
  declaredWithin(
    limits: readonly PartLimit[],
    isReady: (id: number) => boolean,
  ): DeclaredRanges | undefined {
    return this.options.isOff ? undefined : this.#declared.rangesWithin(limits, isReady);
  }

  /** Ranges of a declared index with one entry of every item within the limits, where no item is marked. */
  countableWithin(limits: readonly PartLimit[], isReady: (id: number) => boolean) {
    return this.options.isOff ? undefined : this.#declared.countable(limits, isReady);
  }

  /** A declared index as a list of the values of its first part. */
  valuesIn(path: Path, isReady: (id: number) => boolean) {
    return this.options.isOff ? undefined : this.#declared.valuesIn(path, isReady);
  }

  /** A declared index of the bson collation in the order of its last parts. */
  inOrder(id: number, parts: readonly OrderedPath[], limits: readonly PartLimit[]) {
    return this.options.isOff ? undefined : this.#declared.inOrder(id, parts, limits);
  }

  /** All entries of an item. `value` is its decoded body where the caller has it. */
  entriesOf(item: Item, given?: Value): readonly string[] {
    if (this.options.isOff || item.isInternal) return [];
    const decoded = this.#read(item.body, given);
    const value = this.#computed.length === 0 ? decoded : this.#withComputed(decoded);
    const entries: string[] = [];
    addTerms(value, this.#paths.root(), item.rid, entries);
    for (const prefix of this.#cellTermPrefixes(value))
      entries.push(writer.reset().raw(Buffer.from(prefix, 'latin1')).u64(item.rid).takeText());
    for (const prefix of this.#declared.entryPrefixesOf(value, item.body))
      entries.push(prefix + ridText(item.rid));
    return entries;
  }

  /** The entries of an item in one declared index. */
  declaredEntriesOf(item: Item, id: number): readonly string[] {
    if (this.options.isOff) return NONE;
    const value = this.#withComputed(this.#read(item.body, undefined));
    const prefixes = this.#declared.entryPrefixesOf(value, item.body, id);
    return prefixes.map((prefix) => prefix + ridText(item.rid));
  }

  /** Whether an item has an entry that begins with this text. */
  hasTerm(item: Item, beginning: string): boolean {
    return this.entriesOf(item).some((entry) => entry.startsWith(beginning));
  }

  /** Whether the terms of an item are found before its write is decided, in slices. */
  isAhead(body: Bytes): boolean {
    return !this.options.isOff && this.options.codec.encoding === 'json' && isWide(body);
  }

  /**
   * The terms of a wide item, in slices.
   * @param rid - of a stored item; undefined where the body is not finished yet, and `finishedTermPrefixes` adds the rest.
   */
  *findAhead(body: Bytes, rid: Rid | undefined): Steps<WideTerms> {
    const found = new FoundTermPrefixes();
    const names = new Set(this.#computed.map(({ name }) => name));
    if (!(yield* walkText(bufferOf(body), this.#paths.root(), names, found))) {
      // A text that is not canonical, which stored bodies should not be, is decoded at once.
      found.clear();
      const entries: string[] = [];
      addTerms(this.options.codec.decode(body), this.#paths.root(), 0, entries);
      for (const entry of entries) found.add(entry.slice(0, -RID_BYTES));
    }
    if (rid !== undefined)
      for (const prefix of this.#wholeItemTermPrefixes(body)) found.add(prefix);
    return yield* found.terms(rid);
  }

  /** Term prefixes of an item beside those of the values that its body had before it was finished. */
  finishedTermPrefixes({ body }: Item, added: Value): readonly string[] {
    const entries: string[] = [];
    if (isMap(added))
      for (const name in added) addTerms(added[name], this.#paths.root().child(name), 0, entries);
    const prefixes = entries.map((entry) => entry.slice(0, -RID_BYTES));
    append(prefixes, this.#wholeItemTermPrefixes(body));
    return prefixes;
  }

  /** Term prefixes that need the whole item: computed properties, cells, composites. */
  #wholeItemTermPrefixes(body: Bytes): readonly string[] {
    if (this.#computed.length + this.#spatial.length + this.#declared.count === 0) return NONE;
    const value = this.#withComputed(this.#read(body, undefined));
    const entries: string[] = [];
    if (isMap(value))
      for (const { name } of this.#computed)
        addTerms(value[name], this.#paths.root().child(name), 0, entries);
    const prefixes = entries.map((entry) => entry.slice(0, -RID_BYTES));
    append(prefixes, this.#cellTermPrefixes(value));
    append(prefixes, this.#declared.entryPrefixesOf(value, body));
    return prefixes;
  }

  #cellTermPrefixes(item: Value): readonly string[] {
    return this.#spatial.length === 0
      ? NONE
      : this.#spatial.flatMap((terms) => terms.termPrefixesOf(item));
  }

  /** The item with its computed properties. */
  #withComputed(item: Value): Value {
    if (!isMap(item)) return item;
    const seen: Record<string, Value> = { ...item };
    for (const property of this.#computed) seen[property.name] = computedOf(property, item);
    return seen;
  }

  /**
   * Adds all entries of an item from its stored text, and sets their number in the item; false where that needs its
   * value.
   * @param isNew - see `find`.
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
   * The posting lists of all entries of an item. Sets their number in the item. `value` as for `entriesOf`.
   * @param isNew - the item never had entries, so values of high cardinality need no posting list.
   */
  find(item: Item, value: Value, owner: PostingLists, isNew = false): Terms {
    const found: PostingList[] = [];
    const prefixes: string[] = [];
    if (!this.options.isOff) {
      const body = this.#read(item.body, value);
      const decoded = this.#computed.length === 0 ? body : this.#withComputed(body);
      const root = this.#paths.root();
      findTerms(decoded, root, { owner, root, found, termPrefixes: isNew ? prefixes : undefined });
      for (const prefix of this.#cellTermPrefixes(decoded)) found.push(owner.of(prefix));
      for (const prefix of this.#declared.entryPrefixesOf(decoded, item.body))
        if (isNew) prefixes.push(prefix);
        else found.push(owner.of(prefix));
      item.indexEntryCount = found.length + prefixes.length;
    }
    // Copies have no spare capacity, because many of them wait for the disk.
    return { owner, indexing: this, postings: found.slice(), termPrefixes: prefixes.slice() };
  }
}

/** The changes from the entries `before` to the entries `after`. */
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

/** The value of a term entry; TRUNCATED where the entry has only a part of it. */
export function valueOfTerm(entry: string): Value | typeof TRUNCATED {
  return valueOfKeyText(entry, VALUE_START, entry.length - RID_BYTES);
}

/** Whether two term entries have the same value of the same path. */
export function isSameTerm(a: string, b: string): boolean {
  return a.length === b.length && a.slice(0, -RID_BYTES) === b.slice(0, -RID_BYTES);
}

/** The common prefix of the entries of a path: key prefix and path number. */
export function pathPrefix(path: Path): Bytes {
  return writer.reset().u8(PREFIX_TERM).raw(pathNumber(path)).take();
}

export function indexLogKey(number: number): Bytes {
  return writer.reset().u8(PREFIX_INDEX_LOG).u64(number).take();
}

/** All single entries. */
export const INDEX_ENTRIES: KeyRange = {
  start: Uint8Array.of(PREFIX_TERM),
  end: Uint8Array.of(PREFIX_INDEX_LOG),
};

export const INDEX_LOG_RANGE: KeyRange = {
  start: Uint8Array.of(PREFIX_INDEX_LOG),
  end: Uint8Array.of(PREFIX_INDEX_LOG + 1),
};

/** All single entries, posting blocks and the index log. */
export const INDEX_RANGE: KeyRange = {
  start: Uint8Array.of(PREFIX_TERM),
  end: Uint8Array.of(PREFIX_TERM + 0x10),
};
