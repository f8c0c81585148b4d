/**
 * The vectors of one path of a partition, packed one after the other, and for large approximate indexes a graph beside
 * them. Scores are as queries compute them (cosine, dot product, or the negated distance), in single precision: greater
 * is nearer.
 */
import type { Index, MetricKind, ScalarKind } from 'usearch';
import { assert } from '../base/index.ts';
import type { VectorLibrary } from './vector-library.ts';

export type VectorDistance = 'cosine' | 'dotproduct' | 'euclidean';

export interface VectorSpec {
  readonly path: string;
  readonly dimensions: number;
  readonly distance: VectorDistance;
  /** Whether a graph may answer; otherwise every vector is looked at. */
  readonly isApproximate: boolean;
}

/** Rids, nearest first, each with its score. */
interface Nearest {
  readonly rids: readonly number[];
  readonly scores: readonly number[];
  /** Scores may differ from the exact ones by this share of their size. */
  readonly slack: number;
}

const METRICS = { cosine: 'cos', dotproduct: 'ip', euclidean: 'l2sq' } as const;

/** Below this many vectors looking at all of them is as fast as a graph. */
const GRAPH_VECTORS_MIN = 5000;
/** Vectors added to the graph at once: some milliseconds. */
const GRAPH_STEP = 8;
/** Neighbours of a vector, and candidates kept while one is added or searched: recall against time. */
const GRAPH_SHAPE = { connectivity: 16, expansion_add: 96, expansion_search: 160 };
/** More results than this are sorted here: the library keeps them in a heap. */
const LIBRARY_RESULTS_MAX = 2000;
const SINGLE_PRECISION = 1e-4;
const CAPACITY_MIN = 256;

export class VectorIndex {
  readonly spec: VectorSpec;
  readonly #library: VectorLibrary | undefined;
  readonly #slots = new Map<number, number>();
  #rids: number[] = [];
  #vectors: Float32Array;
  #graph: Index | undefined;
  /** Rids whose vectors are not in the graph as they now are. */
  readonly #behind = new Set<number>();
  #isPumping = false;
  #isStopped = false;

  constructor(spec: VectorSpec, library: VectorLibrary | undefined) {
    this.spec = spec;
    this.#library = library;
    this.#vectors = new Float32Array(CAPACITY_MIN * spec.dimensions);
  }

  get count(): number {
    return this.#rids.length;
  }

  get bytes(): number {
    const graph = this.#graph === undefined ? 0 : this.count * (this.spec.dimensions * 2 + 200);
    return this.#vectors.byteLength + this.count * 80 + graph;
  }

  /** True once the graph holds every vector. */
  get isGraphReady(): boolean {
    return this.#graph !== undefined && this.#behind.size === 0;
  }

  /** Anything but a vector of the right length takes the item out. */
  put(rid: number, value: unknown): void {
    if (!this.#isVector(value)) {
      this.remove(rid);
      return;
    }
    const { dimensions } = this.spec;
    let slot = this.#slots.get(rid);
    if (slot === undefined) {
      slot = this.#rids.push(rid) - 1;
      this.#slots.set(rid, slot);
      if ((slot + 1) * dimensions > this.#vectors.length) this.#grow();
    }
    this.#vectors.set(value, slot * dimensions);
    this.#behind.add(rid);
  }

  /** The last vector takes the place of the one that goes. */
  remove(rid: number): void {
    const slot = this.#slots.get(rid);
    if (slot === undefined) return;
    const { dimensions } = this.spec;
    const last = this.#rids.pop();
    assert(last !== undefined, 'a slot has a rid');
    this.#slots.delete(rid);
    if (last !== rid) {
      const end = this.#rids.length;
      this.#vectors.copyWithin(slot * dimensions, end * dimensions, (end + 1) * dimensions);
      this.#rids[slot] = last;
      this.#slots.set(last, slot);
    }
    this.#behind.add(rid);
  }

  /** The nearest of all, exactly; or nearly so where the index is approximate and its graph is ready. */
  nearest(query: readonly number[], count: number, isExact: boolean): Nearest {
    assert(query.length === this.spec.dimensions, 'vectors of one length');
    if (!isExact && this.spec.isApproximate) {
      this.#keepGraph();
      if (this.isGraphReady && this.#graph !== undefined)
        return this.#fromLibrary(
          this.#graph.search(Float32Array.from(query), Math.min(count, this.count), 1),
          (key) => Number(key),
        );
    }
    if (this.#library !== undefined && count <= LIBRARY_RESULTS_MAX && count < this.count)
      return this.#exactByLibrary(query, count);
    return this.#sorted(query, count);
  }

  #exactByLibrary(query: readonly number[], count: number): Nearest {
    const { dimensions, distance } = this.spec;
    const vectors = this.#vectors.subarray(0, this.count * dimensions);
    const metric = METRICS[distance] as MetricKind;
    const found = this.#library?.exactSearch(
      vectors,
      Float32Array.from(query),
      dimensions,
      count,
      metric,
      1,
    );
    assert(found !== undefined && !('counts' in found), 'one query has one list of matches');
    return this.#fromLibrary(found, (key) => this.#rids[Number(key)] as number);
  }

  #fromLibrary(
    found: { readonly keys: BigUint64Array; readonly distances: Float32Array },
    ridOf: (key: bigint) => number,
  ): Nearest {
    const { distance } = this.spec;
    const rids: number[] = [];
    const scores: number[] = [];
    for (let at = 0; at < found.keys.length; at++) {
      const measured = found.distances[at] as number;
      // No score: a vector of zeros has no direction.
      if (Number.isNaN(measured)) continue;
      rids.push(ridOf(found.keys[at] as bigint));
      scores.push(distance === 'euclidean' ? -Math.sqrt(Math.max(0, measured)) : 1 - measured);
    }
    return { rids, scores, slack: SINGLE_PRECISION };
  }

  /** Every vector measured and put in order. */
  #sorted(query: readonly number[], count: number): Nearest {
    const scores = this.#scores(query);
    const order: number[] = [];
    for (let slot = 0; slot < scores.length; slot++)
      if (!Number.isNaN(scores[slot])) order.push(slot);
    order.sort(
      (a, b) =>
        (scores[b] as number) - (scores[a] as number) ||
        (this.#rids[a] as number) - (this.#rids[b] as number),
    );
    const first = order.slice(0, count);
    return {
      rids: first.map((slot) => this.#rids[slot] as number),
      scores: first.map((slot) => scores[slot] as number),
      slack: SINGLE_PRECISION,
    };
  }

  #scores(query: readonly number[]): Float64Array {
    const { dimensions, distance } = this.spec;
    const vectors = this.#vectors;
    const scores = new Float64Array(this.count);
    let querySquares = 0;
    for (const x of query) querySquares += x * x;
    for (let slot = 0, start = 0; slot < scores.length; slot++, start += dimensions) {
      let dot = 0;
      let squares = 0;
      let differenceSquares = 0;
      for (let at = 0; at < dimensions; at++) {
        const x = vectors[start + at] as number;
        const y = query[at] as number;
        dot += x * y;
        squares += x * x;
        differenceSquares += (x - y) * (x - y);
      }
      if (distance === 'dotproduct') scores[slot] = dot;
      else if (distance === 'cosine') scores[slot] = dot / Math.sqrt(squares * querySquares);
      else scores[slot] = -Math.sqrt(differenceSquares);
    }
    return scores;
  }

  /** Begins the graph where it pays, and adds what it does not have yet, a little at a time. */
  #keepGraph(): void {
    if (this.#library === undefined || this.#isPumping) return;
    if (this.#graph === undefined && this.count < GRAPH_VECTORS_MIN) return;
    if (this.#graph === undefined) {
      const { dimensions, distance } = this.spec;
      this.#graph = new this.#library.Index({
        dimensions,
        metric: METRICS[distance] as MetricKind,
        quantization: 'f16' as ScalarKind,
        multi: false,
        ...GRAPH_SHAPE,
      });
      for (const rid of this.#rids) this.#behind.add(rid);
    }
    if (this.#behind.size === 0) return;
    this.#isPumping = true;
    const pump = (): void => {
      this.#addSome();
      this.#isPumping = this.#behind.size > 0 && !this.#isStopped;
      if (this.#isPumping) setImmediate(pump);
    };
    setImmediate(pump);
  }

  /** Nobody will ask again: a graph that is being built is given up. */
  stop(): void {
    this.#isStopped = true;
  }

  #addSome(): void {
    const graph = this.#graph;
    if (graph === undefined) return;
    const { dimensions } = this.spec;
    let left = GRAPH_STEP;
    for (const rid of this.#behind) {
      if (left-- === 0) return;
      this.#behind.delete(rid);
      const key = BigInt(rid);
      if (graph.contains(key)) graph.remove(key);
      const slot = this.#slots.get(rid);
      if (slot === undefined) continue;
      const start = slot * dimensions;
      graph.add(key, this.#vectors.slice(start, start + dimensions), 1);
    }
  }

  #isVector(value: unknown): value is readonly number[] {
    return (
      Array.isArray(value) &&
      value.length === this.spec.dimensions &&
      value.every((x) => typeof x === 'number')
    );
  }

  #grow(): void {
    const larger = new Float32Array(this.#vectors.length * 2);
    larger.set(this.#vectors);
    this.#vectors = larger;
  }
}
