/**
 * Sequences of writes over the partitions of a container: one command for the writes of one partition, and further ones
 * where they are too many. Writes that found their partition replaced are grouped again; the others are done.
 */
import {
  compareBytes,
  DomainError,
  type ResponseInfo,
  SEQUENCE_BYTES_MAX,
  SEQUENCE_WRITES_MAX,
} from '../../base/index.ts';
import type { ContainerRecord } from '../../catalog/index.ts';
import {
  type ItemOp,
  type KeyNote,
  type SequenceMode,
  WRITES_PER_ITEM_MAX,
} from '../../partition/index.ts';
import type { RequestClass } from '../../throughput/index.ts';
import { othersOf, type SequenceReply, type SequenceResult } from '../reply.ts';
import type { Router } from '../routing/router.ts';
import type { Route } from '../routing/routing-map.ts';
import type { PartitionWrites } from './partition-writes.ts';

interface SequenceOptions {
  readonly container: ContainerRecord;
  readonly ops: readonly ItemOp[];
  readonly mode: SequenceMode;
  readonly requestClass: RequestClass;
  /** Each is stored with the first command of the partition that owns its key. */
  readonly notes: readonly KeyNote[];
}

/** Writes of one partition that become one command, by their places in the list. */
interface Run {
  readonly route: Route;
  readonly places: readonly number[];
}

export class WriteSequence {
  readonly #writes: PartitionWrites;
  readonly #router: Router;
  readonly #options: SequenceOptions;
  /** By the place of the write; undefined while it has no result. */
  readonly #results: (SequenceResult | undefined)[];
  readonly #infos: ResponseInfo[] = [];
  readonly #stored = new Set<KeyNote>();

  constructor(writes: PartitionWrites, router: Router, options: SequenceOptions) {
    this.#writes = writes;
    this.#router = router;
    this.#options = options;
    this.#results = options.ops.map(() => undefined);
  }

  /** Throws where no write was run: then the caller may wait and try again. */
  async run(): Promise<SequenceReply> {
    const { container, mode } = this.#options;
    if (this.#results.length === 0)
      throw new DomainError('invalidInput', 'A sequence of writes has at least one.');
    await this.#router.withRerouting(container, (current) =>
      mode === 'each' ? this.#runEach(current) : this.#runInOrder(current),
    );
    const results = this.#results as readonly SequenceResult[];
    const [first] = this.#infos;
    if (first === undefined) throw refusalOf(results);
    let charge = 0;
    for (const info of this.#infos) charge += info.charge;
    const latest = latestOf(this.#infos);
    return {
      ...(latest[0] as ResponseInfo),
      results,
      charge: Math.round(charge * 100) / 100,
      others: othersOf(latest),
    };
  }

  /** Partitions at the same time, the runs of one partition one after the other. */
  async #runEach(container: ContainerRecord): Promise<void> {
    const byRoute = Map.groupBy(this.#openPlaces(), (place) => this.#routeOf(container, place));
    const ends = await Promise.allSettled(
      [...byRoute].map(async ([route, places]) => {
        for (const run of this.#runsOf(route, places)) await this.#do(run);
      }),
    );
    for (const end of ends) if (end.status === 'rejected') throw end.reason;
  }

  /** Neighbours in the list that have one partition are one run. */
  async #runInOrder(container: ContainerRecord): Promise<void> {
    const runs: Run[] = [];
    let neighbours: number[] = [];
    let route: Route | undefined;
    for (const place of this.#openPlaces()) {
      const next = this.#routeOf(container, place);
      if (route !== undefined && next !== route) {
        runs.push(...this.#runsOf(route, neighbours));
        neighbours = [];
      }
      route = next;
      neighbours.push(place);
    }
    if (route !== undefined) runs.push(...this.#runsOf(route, neighbours));
    if (this.#options.mode === 'all' && runs.length > 1)
      throw new DomainError(
        'invalidInput',
        'Writes of several partitions, or too many for one commit, need a transaction.',
      );
    for (const run of runs) if (!(await this.#do(run))) return this.#skipRest();
  }

  /** False where a write was refused that ends the sequence. */
  async #do({ route, places }: Run): Promise<boolean> {
    const { ops, mode, requestClass } = this.#options;
    const own = places.map((place) => ops[place] as ItemOp);
    try {
      const notes = this.#notesOf(route);
      const reply = await this.#writes.sequence(route, own, mode, requestClass, notes);
      this.#infos.push(reply);
      if (reply.results.some((result) => 'effect' in result))
        for (const note of notes) this.#stored.add(note);
      reply.results.forEach((result, at) => {
        this.#results[places[at] as number] = result;
      });
      return mode === 'each' || !reply.results.some((result) => 'error' in result);
    } catch (error) {
      if (!(error instanceof DomainError) || error.code === 'partitionGone') throw error;
      // Nothing of the run was applied: the budget was used up, or the store failed.
      places.forEach((place, at) => {
        this.#results[place] = mode === 'each' || at === 0 ? { error } : { notRun: true };
      });
      return mode === 'each';
    }
  }

  /** Notes of the partition that are not stored yet. */
  #notesOf({ min, max }: Route): readonly KeyNote[] {
    return this.#options.notes.filter(
      (note) =>
        !this.#stored.has(note) &&
        compareBytes(min, note.epk) <= 0 &&
        compareBytes(note.epk, max) < 0,
    );
  }

  #skipRest(): void {
    for (const place of this.#openPlaces()) this.#results[place] = { notRun: true };
  }

  #openPlaces(): readonly number[] {
    return [...this.#results.keys()].filter((place) => this.#results[place] === undefined);
  }

  #routeOf(container: ContainerRecord, place: number): Route {
    const { epk } = (this.#options.ops[place] as ItemOp).key;
    return this.#router.routing(container).forKey(epk);
  }

  /** Parts within the bounds of one command. An item that is written very often ends a part too. */
  #runsOf(route: Route, places: readonly number[]): readonly Run[] {
    const runs: Run[] = [];
    let part: number[] = [];
    let bytes = 0;
    const counts = new Map<string, number>();
    for (const place of places) {
      const op = this.#options.ops[place] as ItemOp;
      const opBytes = 'body' in op ? op.body.length : 'args' in op ? op.args.length : 0;
      const count = counts.get(op.key.text) ?? 0;
      const isFull =
        part.length >= SEQUENCE_WRITES_MAX ||
        bytes + opBytes > SEQUENCE_BYTES_MAX ||
        count >= WRITES_PER_ITEM_MAX;
      if (isFull && part.length > 0) {
        runs.push({ route, places: part });
        part = [];
        bytes = 0;
        counts.clear();
      }
      part.push(place);
      bytes += opBytes;
      counts.set(op.key.text, (counts.get(op.key.text) ?? 0) + 1);
    }
    if (part.length > 0) runs.push({ route, places: part });
    return runs;
  }
}

/** The last response of each partition, in the order of the first ones. */
function latestOf(infos: readonly ResponseInfo[]): readonly ResponseInfo[] {
  return [...new Map(infos.map((info) => [info.partitionId, info])).values()];
}

/** The refusal of a sequence of which nothing was run. */
function refusalOf(results: readonly SequenceResult[]): unknown {
  return results.find((result) => 'error' in result)?.error;
}
