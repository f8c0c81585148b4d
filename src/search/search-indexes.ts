/** The vector and text indexes of one partition: built at the first search, then kept up from its change log. */
import { PAGE_BYTES_MAX, SEARCH_MEMORY_BYTES } from '../base/index.ts';
import type { FeedChange, Lsn, Partition } from '../partition/index.ts';
import type { Search, SearchAccess } from '../query/index.ts';
import { type Codec, type Path, parsePath, printPath, readPath } from '../value/index.ts';
import { TextIndex } from './text-index.ts';
import type { TextLanguage } from './text-libraries.ts';
import { VectorIndex, type VectorSpec } from './vector-index.ts';
import { loadVectorLibrary } from './vector-library.ts';

interface TextSpec {
  readonly path: string;
  readonly language: TextLanguage;
}

/** The indexed paths of a container, and their options. */
export interface SearchSpec {
  readonly vectors: readonly VectorSpec[];
  readonly texts: readonly TextSpec[];
  readonly codec: Codec;
  /** Different for every different spec. */
  readonly fingerprint: string;
}

/** Changes applied without a yield to the event loop. */
const STEP_CHANGES = 200;

interface Entry {
  readonly path: Path;
  readonly index: VectorIndex | TextIndex;
}

/**
 * The memory of the indexes of all partitions of the process. Above the bound, the least recently used indexes are
 * dropped.
 */
export class SearchMemory {
  readonly #bytesMax: number;
  /** In the order of their last use. */
  readonly #users = new Set<SearchIndexes>();

  constructor(bytesMax = SEARCH_MEMORY_BYTES) {
    this.#bytesMax = bytesMax;
  }

  /** For a partition that is closed. */
  forget(user: SearchIndexes): void {
    this.#users.delete(user);
    user.clear();
  }

  /** False if this one alone is too large. */
  use(user: SearchIndexes): boolean {
    this.#users.delete(user);
    this.#users.add(user);
    let bytes = 0;
    for (const { bytes: used } of this.#users) bytes += used;
    for (const other of this.#users) {
      if (bytes <= this.#bytesMax || other === user) break;
      bytes -= other.bytes;
      this.#users.delete(other);
      other.clear();
    }
    if (bytes <= this.#bytesMax) return true;
    this.#users.delete(user);
    user.clear();
    return false;
  }
}

export class SearchIndexes {
  readonly #partition: Partition;
  readonly #spec: SearchSpec;
  readonly #memory: SearchMemory;
  #entries: readonly Entry[] = [];
  #lsn: Lsn = 0;
  #isTooLarge = false;
  /** Changes when the indexes are cleared: a pending catch-up must then stop. */
  #generation = 0;
  #catchingUp: Promise<void> | undefined;

  constructor(partition: Partition, spec: SearchSpec, memory: SearchMemory) {
    this.#partition = partition;
    this.#spec = spec;
    this.#memory = memory;
  }

  get bytes(): number {
    let bytes = 0;
    for (const { index } of this.#entries) bytes += index.bytes;
    return bytes;
  }

  /** Drops everything; the next search builds the indexes again. */
  clear(): void {
    for (const { index } of this.#entries) if (index instanceof VectorIndex) index.stop();
    this.#entries = [];
    this.#lsn = 0;
    this.#generation++;
  }

  /** Whether the texts at a path are indexed. */
  hasTexts(path: Path): boolean {
    const wanted = printPath(path);
    return this.#spec.texts.some((text) => printPath(parsePath(text.path)) === wanted);
  }

  async access(search: Search): Promise<SearchAccess | undefined> {
    const path = printPath(search.path);
    if (!this.#isIndexed(search, path)) return undefined;
    await this.#catchUp();
    if (this.#isTooLarge) return undefined;
    const entry = this.#entries.find(
      (each) => printPath(each.path) === path && isFor(each, search),
    );
    if (entry === undefined) return undefined;
    if (entry.index instanceof VectorIndex)
      return search.kind === 'vector' ? vectorAccess(entry.index, search) : undefined;
    return search.kind === 'text' ? textAccess(entry.index, search, this.#partition) : undefined;
  }

  #isIndexed(search: Search, path: string): boolean {
    if (search.kind === 'text') return this.hasTexts(search.path);
    const same = (text: string) => printPath(parsePath(text)) === path;
    return this.#spec.vectors.some(
      ({ path: text, dimensions, distance }) =>
        same(text) && dimensions === search.vector.length && distance === search.distance,
    );
  }

  /** One catch-up runs at a time. Other searches wait for it and then check whether more was written since. */
  async #catchUp(): Promise<void> {
    const wanted = this.#partition.lsn;
    while ((this.#lsn < wanted || this.#entries.length === 0) && !this.#isTooLarge) {
      this.#catchingUp ??= this.#apply().finally(() => {
        this.#catchingUp = undefined;
      });
      await this.#catchingUp;
    }
    if (!this.#isTooLarge) this.#isTooLarge = !this.#memory.use(this);
  }

  async #apply(): Promise<void> {
    if (this.#entries.length === 0) await this.#begin();
    const generation = this.#generation;
    for (let more = true; more; ) {
      const slice = await this.#partition.changes.feed({
        mode: 'latestAndDeleted',
        after: this.#lsn,
        limit: STEP_CHANGES,
        bytesMax: PAGE_BYTES_MAX,
        within: undefined,
        sinceSec: undefined,
      });
      if (generation !== this.#generation) return;
      for (const change of slice.changes) this.#applyChange(change);
      this.#lsn = slice.upTo;
      more = slice.more;
      if (!more) return;
      if (!this.#memory.use(this)) {
        this.#isTooLarge = true;
        return;
      }
      await new Promise((resolve) => setImmediate(resolve));
    }
  }

  async #begin(): Promise<void> {
    const { vectors, texts } = this.#spec;
    const library = vectors.length > 0 ? await loadVectorLibrary() : undefined;
    this.#lsn = 0;
    this.#entries = [
      ...vectors.map((spec) => ({
        path: parsePath(spec.path),
        index: new VectorIndex(spec, library),
      })),
      ...texts.map(({ path, language }) => ({
        path: parsePath(path),
        index: new TextIndex(path, language),
      })),
    ];
  }

  #applyChange(change: FeedChange): void {
    if (change.kind === 'deletion') {
      for (const { index } of this.#entries) index.remove(change.rid);
    } else if (change.kind === 'write') {
      const { rid, body } = change.item;
      const value = this.#spec.codec.decode(body);
      for (const { path, index } of this.#entries) index.put(rid, readPath(value, path));
    }
  }
}

function isFor({ index }: Entry, search: Search): boolean {
  if (search.kind === 'text') return index instanceof TextIndex;
  return index instanceof VectorIndex && index.spec.distance === search.distance;
}

function vectorAccess(
  index: VectorIndex,
  search: Extract<Search, { kind: 'vector' }>,
): SearchAccess {
  const isGraph = index.spec.isApproximate && !search.isExact;
  let rounds = 0;
  return {
    text: `vector index ${index.spec.path}`,
    count: index.count,
    first(count) {
      // The results of the graph were not enough because of a filter: from here on the search is exact.
      const isFirst = rounds++ === 0;
      const isApproximate = isGraph && isFirst && index.isGraphReady;
      const { rids, scores, slack } = index.nearest(search.vector, count, !(isGraph && isFirst));
      return { rids, scores, slack, isApproximate };
    },
    containing: () => new Set(),
    statistics: () => ({ documentCount: index.count, wordCount: 0, hitCounts: [] }),
  };
}

function textAccess(
  index: TextIndex,
  { phrases, statistics }: Extract<Search, { kind: 'text' }>,
  partition: Partition,
): SearchAccess {
  const own = () => ({
    documentCount: partition.statistics().itemCount,
    wordCount: index.wordCount,
    hitCounts: phrases.map((phrase) => index.hitCount(phrase)),
  });
  return {
    text: `full text index ${index.path}`,
    count: index.count,
    first: (count) => ({
      ...index.best(phrases, statistics ?? own(), count),
      slack: 0,
      isApproximate: false,
    }),
    containing: (needs) => index.containing(phrases, needs),
    statistics: own,
  };
}
