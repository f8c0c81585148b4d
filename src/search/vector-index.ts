/**
 * The vectors of one path of a partition, packed one after the other, and a graph for large approximate indexes.
 * Scores are as in queries (cosine, dot product, or the negated distance), in single precision: a greater score is
 * nearer.
 */
import type { Index, MetricKind, ScalarKind } from 'usearch';
import { assert } from '../base/index.ts';
import type { VectorLibrary } from './vector-library.ts';

export type VectorDistance = 'cosine' | 'dotproduct' | 'euclidean';

export interface VectorSpec {
  readonly path: string;
  readonly dimensions: number;
  readonly distance: VectorDistance;
  /** Whether the graph may be used; otherwise every vector is compared. */
  readonly isApproximate: boolean;
}

/** Rids and their scores, nearest first. */
interface Nearest {
  readonly rids: readonly number[];
  readonly scores: readonly number[];
  /** The relative error of the scores. */
  readonly slack: number;
}

const METRICS = { cosine: 'cos', dotproduct: 'ip', euclidean: 'l2sq' } as const;

/** With fewer vectors comparing all of them is as fast as a graph. */
const GRAPH_VECTORS_MIN = 5000;
/** Vectors added to the graph without a yield: some milliseconds. */
const GRAPH_STEP = 8;
/** Neighbours of a vector, and candidates while adding and searching: recall against time. */
const GRAPH_OPTIONS = { connectivity: 16, expansion_add: 96, expansion_search: 160 };
/** More results than this are sorted here, because the library keeps them in a heap. */
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
  /** Rids whose current vectors are not in the graph. */
  readonly #notInGraph = new Set<number>();
  #isBuilding = false;
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

  /** True once the graph has every vector. */
  get isGraphReady(): boolean {
    return this.#graph !== undefined && this.#notInGraph.size === 0;
  }

  /** Indexes the vector of an item; any other value removes the item. */
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
    this.#notInGraph.add(rid);
  }

  /** The last vector moves into the slot of the removed one. */
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
    this.#notInGraph.add(rid);
  }

  /** The nearest vectors: exact, or approximate if the index is approximate and its graph is ready. */
  nearest(query: readonly number[], count: number, isExact: boolean): Nearest {
    assert(query.length === this.spec.dimensions, 'vectors of one length');
    if (!isExact && this.spec.isApproximate) {
      this.#buildGraph();
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
      // A vector of zeros has no direction and therefore no score.
      if (Number.isNaN(measured)) continue;
      rids.push(ridOf(found.keys[at] as bigint));
      scores.push(distance === 'euclidean' ? -Math.sqrt(Math.max(0, measured)) : 1 - measured);
    }
    return { rids, scores, slack: SINGLE_PRECISION };
  }

  /** Compares every vector and sorts the scores. */
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

  /** Starts the graph if it pays, and adds missing vectors to it in steps. */
  #buildGraph(): void {
    if (this.#library === undefined || this.#isBuilding) return;
    if (this.#graph === undefined && this.count < GRAPH_VECTORS_MIN) return;
    if (this.#graph === undefined) {
      const { dimensions, distance } = this.spec;
      this.#graph = new this.#library.Index({
        dimensions,
        metric: METRICS[distance] as MetricKind,
        quantization: 'f16' as ScalarKind,
        multi: false,
        ...GRAPH_OPTIONS,
      });
      for (const rid of this.#rids) this.#notInGraph.add(rid);
    }
    if (this.#notInGraph.size === 0) return;
    this.#isBuilding = true;
    const buildStep = (): void => {
      this.#addToGraph();
      this.#isBuilding = this.#notInGraph.size > 0 && !this.#isStopped;
      if (this.#isBuilding) setImmediate(buildStep);
    };
    setImmediate(buildStep);
  }

  /** The index is not used any more: building the graph stops. */
  stop(): void {
    this.#isStopped = true;
  }

  #addToGraph(): void {
    const graph = this.#graph;
    if (graph === undefined) return;
    const { dimensions } = this.spec;
    let left = GRAPH_STEP;
    for (const rid of this.#notInGraph) {
      if (left-- === 0) return;
      this.#notInGraph.delete(rid);
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
