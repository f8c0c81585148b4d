/** Databases: create, look up, list, delete. */
import { type Clock, DomainError } from '../../base/index.ts';
import type { Catalog, DatabaseRecord, ThroughputSetting } from '../../catalog/index.ts';
import type { Cluster } from '../../cluster/index.ts';
import type { ValueMap } from '../../value/index.ts';
import type { Settings } from '../settings.ts';
import { newThroughput } from '../throughput/offers.ts';
import { checkThroughput, newHistory } from '../throughput/throughput.ts';
import { checkEtag, newEtag } from './resource-etag.ts';

export class Databases {
  readonly #catalog: Catalog;
  readonly #cluster: Cluster;
  readonly #clock: Clock;
  readonly #settings: Settings;

  constructor(catalog: Catalog, cluster: Cluster, clock: Clock, settings: Settings) {
    this.#catalog = catalog;
    this.#cluster = cluster;
    this.#clock = clock;
    this.#settings = settings;
  }

  list(): readonly DatabaseRecord[] {
    return this.#catalog.databases();
  }

  find(id: string): DatabaseRecord | undefined {
    return this.#catalog.database(id);
  }

  findByRid(rid: number): DatabaseRecord | undefined {
    return this.#catalog.databaseByRid(rid);
  }

  create(id: string, throughput: ThroughputSetting | undefined): Promise<DatabaseRecord> {
    if (throughput !== undefined && this.#settings.capacityMode === 'serverless')
      throw throughputNotSupported('database');
    if (throughput !== undefined)
      checkThroughput(throughput, newHistory('database'), this.#settings);
    return this.#catalog.change(() => {
      if (this.#catalog.database(id) !== undefined)
        throw new DomainError(
          'databaseExists',
          'Resource with specified id or name already exists.',
        );
      this.#catalog.checkQuota();
      const timestampSec = Math.floor(this.#clock.nowMs() / 1000);
      const record: DatabaseRecord = {
        id,
        rid: this.#catalog.newRid(32, (rid) => this.#catalog.databaseByRid(rid) !== undefined),
        etag: newEtag(),
        timestampSec,
        ...(throughput === undefined
          ? {}
          : { throughput: newThroughput(this.#catalog, throughput, timestampSec) }),
      };
      return { databases: [record], result: record };
    });
  }

  /** Stores properties that an API keeps for all containers of the database; given ones replace stored ones. */
  setPolicies(rid: number, policies: ValueMap): Promise<DatabaseRecord> {
    return this.#catalog.change(() => {
      const current = this.#catalog.databaseByRid(rid);
      if (current === undefined) throw databaseNotFound();
      const record = { ...current, policies: { ...current.policies, ...policies } };
      return { databases: [record], result: record };
    });
  }

  /**
   * Deletes the database with all its containers.
   * @param ifMatch - the etag it must still have.
   */
  async delete(rid: number, ifMatch?: string): Promise<void> {
    const dropped = await this.#catalog.change(() => {
      const record = this.#catalog.databaseByRid(rid);
      if (record === undefined) throw databaseNotFound();
      checkEtag(record.etag, ifMatch);
      const containers = this.#catalog.containers(record);
      return { droppedDatabases: [record], droppedContainers: containers, result: containers };
    });
    this.#cluster.dropDatabase(rid);
    for (const container of dropped) await this.#cluster.drop(container);
  }
}

export function throughputNotSupported(what: 'database' | 'container'): DomainError {
  return new DomainError(
    'invalidInput',
    `Setting offer throughput or autopilot on ${what} is not supported for serverless accounts.`,
  );
}

export function databaseNotFound(): DomainError {
  return new DomainError('databaseNotFound', 'Resource Not Found.');
}
