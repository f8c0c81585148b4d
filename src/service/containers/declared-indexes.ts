/** Declared indexes of containers: create, drop, and how far each is built. */
import { type Clock, DECLARED_INDEXES_MAX, DomainError } from '../../base/index.ts';
import {
  type Catalog,
  type ContainerRecord,
  type IndexDefinition,
  type IndexDefinitions,
  isSameIndex,
  type NewIndex,
  withIndex,
} from '../../catalog/index.ts';
import type { Cluster } from '../../cluster/index.ts';
import type { IndexBuild } from '../../partition/index.ts';
import { containerNotFound } from './containers.ts';
import { newEtag } from './resource-etag.ts';

/** Time between two looks at a build that somebody waits for. */
const LOOK_MS = 10;

export class DeclaredIndexes {
  readonly #catalog: Catalog;
  readonly #cluster: Cluster;
  readonly #clock: Clock;

  constructor(catalog: Catalog, cluster: Cluster, clock: Clock) {
    this.#catalog = catalog;
    this.#cluster = cluster;
    this.#clock = clock;
  }

  /**
   * Declares an index; the one that has the same entries, where there is one. Writes keep it from now on, and items
   * written before are added in the background.
   */
  async create(
    container: ContainerRecord,
    index: Omit<NewIndex, 'origin'>,
  ): Promise<{ readonly container: ContainerRecord; readonly index: IndexDefinition }> {
    const wanted: NewIndex = { ...index, origin: 'declared' };
    const record = await this.#catalog.change(() => {
      const current = this.#current(container);
      const definitions = definitionsOf(current);
      if (definitions.indexes.some((old) => isSameIndex(old, wanted)))
        return { containers: [], result: current };
      if (definitions.indexes.length >= DECLARED_INDEXES_MAX)
        throw new DomainError(
          'invalidInput',
          `A container has at most ${DECLARED_INDEXES_MAX} declared indexes.`,
        );
      return this.#changed(current, withIndex(definitions, wanted));
    });
    this.#reach(record);
    const found = record.indexes?.find((old) => isSameIndex(old, wanted)) as IndexDefinition;
    return { container: record, index: found };
  }

  /** Queries stop using it at once; its entries are removed in the background. */
  async drop(container: ContainerRecord, id: number): Promise<ContainerRecord> {
    const record = await this.#catalog.change(() => {
      const current = this.#current(container);
      const { indexes, nextIndexId } = definitionsOf(current);
      const left = indexes.filter((index) => index.id !== id || index.origin !== 'declared');
      return this.#changed(current, { indexes: left, nextIndexId });
    });
    this.#reach(record);
    return record;
  }

  /** Changes what an index says about itself, when items expire by it and whether queries use it; its entries stay. */
  async change(
    container: ContainerRecord,
    id: number,
    changes: Pick<IndexDefinition, 'details' | 'expireAfterSec' | 'isHidden'>,
  ): Promise<ContainerRecord> {
    const record = await this.#catalog.change(() => {
      const current = this.#current(container);
      const { indexes, nextIndexId } = definitionsOf(current);
      const changed = indexes.map((index) => (index.id === id ? { ...index, ...changes } : index));
      return this.#changed(current, { indexes: changed, nextIndexId });
    });
    this.#reach(record);
    return record;
  }

  /** The least progress of any partition, for every index. */
  builds(container: ContainerRecord): Promise<readonly IndexBuild[]> {
    const attempt = (current: ContainerRecord) => this.#cluster.indexBuilds(current);
    return Promise.resolve(this.#cluster.withRerouting(container, attempt)).then(least);
  }

  /**
   * Resolves when an index is complete; throws `uniqueKeyViolation` where items violate its uniqueness.
   * @param check - throws where the caller waits no longer; the build goes on.
   */
  async whenBuilt(container: ContainerRecord, id: number, check?: () => void): Promise<void> {
    for (;;) {
      check?.();
      const builds = await this.builds(container);
      const build = builds.find((one) => one.id === id);
      if (build === undefined || build.percent === 100) return;
      if (build.isFailed)
        throw new DomainError('uniqueKeyViolation', 'Items have the same values already.');
      await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
    }
  }

  #changed(current: ContainerRecord, definitions: IndexDefinitions) {
    const timestampSec = Math.floor(this.#clock.nowMs() / 1000);
    const record: ContainerRecord = { ...current, ...definitions, etag: newEtag(), timestampSec };
    return { containers: [record], result: record };
  }

  /** Tells the open partitions; the others read the record when they are opened. */
  #reach(container: ContainerRecord): void {
    this.#cluster.routing(container);
  }

  #current({ databaseRid, rid }: ContainerRecord): ContainerRecord {
    const current = this.#catalog.containerByRid(databaseRid, rid);
    if (current === undefined) throw containerNotFound();
    if (current.indexes === undefined)
      throw new DomainError(
        'invalidInput',
        'The container was created by an earlier version, which had no declared indexes.',
      );
    return current;
  }
}

function definitionsOf({ indexes = [], nextIndexId = 1 }: ContainerRecord): IndexDefinitions {
  return { indexes, nextIndexId };
}

function least(partitions: readonly (readonly IndexBuild[])[]): readonly IndexBuild[] {
  const byId = new Map<number, IndexBuild>();
  for (const build of partitions.flat()) {
    const { id, percent, isFailed } = byId.get(build.id) ?? build;
    byId.set(id, {
      id,
      percent: Math.min(percent, build.percent),
      isFailed: isFailed || build.isFailed,
    });
  }
  return [...byId.values()];
}
