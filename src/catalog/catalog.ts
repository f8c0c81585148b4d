/**
 * The catalog of an account: databases and containers with their partitions and throughput, in one transactional
 * store.
 *
 * All records are in memory, because every request looks up a container. Every change is one conditional batch on the
 * store and becomes visible when it is durable. Changes run one after the other.
 *
 * Every change expects the number of the one before it and stores its own, so that two writers cannot both succeed.
 *
 * Stored form, version 1: key `format` → version; `version` → number of the last change; `db` · rid → DatabaseRecord; `coll` · database rid · rid →
 * ContainerRecord; `res` · … → StoredResource (see stored-resources.ts), all as JSON.
 */
import {
  assert,
  type Bytes,
  bytesToText,
  DomainError,
  equalBytes,
  keyAfter,
  type Random,
  RESOURCES_PER_ACCOUNT_MAX,
  textToBytes,
} from '../base/index.ts';
import { type Batch, type Entry, FormatError, type KeyRange, type Store } from '../engine/index.ts';
import { EPK_MAX, EPK_MIN, encodeTuple, epkToHex } from '../value/index.ts';
import type { ContainerRecord, DatabaseRecord, PartitionRecord } from './records.ts';
import {
  ownedPrefix,
  type ResourceOwner,
  type StoredKind,
  type StoredResource,
  StoredResources,
  storedResourceKey,
} from './stored-resources.ts';

const CATALOG_VERSION = 1;
const FORMAT_KEY = encodeTuple(['format']);
const VERSION_KEY = encodeTuple(['version']);
const PAGE = { limit: 1000, bytesMax: 16 * 1024 * 1024 };

export class Catalog {
  readonly #store: Store;
  readonly #random: Random;
  readonly #databases = new Map<string, DatabaseEntry>();
  readonly #databasesByRid = new Map<number, DatabaseEntry>();
  /** Called with every change when it is visible. */
  onChange: ((change: Omit<CatalogChange<unknown>, 'result'>) => void) | undefined;
  /** The number of the last change, as stored; undefined in a catalog without one. */
  #version: Bytes | undefined;
  /** The last change, while nobody knows whether it is stored. */
  #unknown: { readonly version: Bytes; readonly change: CatalogChange<unknown> } | undefined;
  /** Each change is decided on the result of the one before. */
  #lastChange: Promise<unknown> = Promise.resolve();

  private constructor(store: Store, random: Random) {
    this.#store = store;
    this.#random = random;
  }

  static async open(store: Store, random: Random): Promise<Catalog> {
    const catalog = new Catalog(store, random);
    const format = await store.get(FORMAT_KEY);
    if (format === undefined)
      await store.commit({
        puts: [{ key: FORMAT_KEY, value: textToBytes(String(CATALOG_VERSION)) }],
      });
    else if (bytesToText(format) !== String(CATALOG_VERSION))
      throw new FormatError(
        `catalog format version ${bytesToText(format)} found; this program reads version ${CATALOG_VERSION}`,
      );
    catalog.#version = await store.get(VERSION_KEY);
    await catalog.#load();
    return catalog;
  }

  /** The number of changes so far. */
  get version(): number {
    return this.#version === undefined ? 0 : Number(bytesToText(this.#version));
  }

  databases(): readonly DatabaseRecord[] {
    return [...this.#databases.values()].map(({ record }) => record);
  }

  database(id: string): DatabaseRecord | undefined {
    return this.#databases.get(id)?.record;
  }

  databaseByRid(rid: number): DatabaseRecord | undefined {
    return this.#databasesByRid.get(rid)?.record;
  }

  containers(database: DatabaseRecord): readonly ContainerRecord[] {
    return [...(this.#databasesByRid.get(database.rid)?.containers.values() ?? [])];
  }

  container(database: DatabaseRecord, id: string): ContainerRecord | undefined {
    return this.#databasesByRid.get(database.rid)?.containers.get(id);
  }

  containerByRid(databaseRid: number, rid: number): ContainerRecord | undefined {
    return this.#databasesByRid.get(databaseRid)?.containersByRid.get(rid);
  }

  storedResources(owner: ResourceOwner, kind: StoredKind): readonly StoredResource[] {
    return this.#databasesByRid.get(owner.databaseRid)?.resources.list(owner, kind) ?? [];
  }

  storedResource(owner: ResourceOwner, kind: StoredKind, id: string): StoredResource | undefined {
    return this.#databasesByRid.get(owner.databaseRid)?.resources.find(owner, kind, id);
  }

  /**
   * Runs one change after all earlier ones. `decide` reads the current catalog and returns the records to write; they
   * become visible when they are durable.
   */
  change<T>(decide: () => CatalogChange<T>): Promise<T> {
    const run = async (): Promise<T> => {
      await this.#resolveUnknown();
      const { writeRefusal } = this.#store;
      if (writeRefusal !== undefined) throw new DomainError('unavailable', writeRefusal);
      const change = decide();
      this.#check(change);
      const version = textToBytes(String(this.version + 1));
      try {
        await this.#store.commit({
          expects: [{ key: VERSION_KEY, value: this.#version }],
          ...toBatch(change, { key: VERSION_KEY, value: version }),
        });
      } catch (error) {
        if (!(error instanceof DomainError && error.code === 'outcomeUnknown')) throw error;
        this.#unknown = { version, change };
        // Where the store cannot be read either, the next change looks again.
        const isApplied = await this.#resolveUnknown().catch(() => undefined);
        if (isApplied === true) return change.result;
        throw isApplied === false ? new DomainError('unavailable', error.message) : error;
      }
      this.#applied(version, change);
      return change.result;
    };
    const result = this.#lastChange.then(run, run);
    // The caller handles the error of its change; the next change must run all the same.
    this.#lastChange = result.catch(() => undefined);
    const { answerWithinMs } = this.#store;
    return answerWithinMs === undefined ? result : answeredWithin(result, answerWithinMs);
  }

  #applied(version: Bytes, change: CatalogChange<unknown>): void {
    this.#version = version;
    this.#apply(change);
    this.onChange?.(change);
  }

  /** Whether the change of unknown outcome is stored; the store lets no earlier commit land after it was read. */
  async #resolveUnknown(): Promise<boolean | undefined> {
    if (this.#unknown === undefined) return undefined;
    const stored = await this.#store.get(VERSION_KEY);
    const { version, change } = this.#unknown;
    this.#unknown = undefined;
    const isApplied = stored !== undefined && equalBytes(stored, version);
    if (isApplied) this.#applied(version, change);
    return isApplied;
  }

  /** An unused number for a new database, container or offer. */
  newRid(bits: number, isTaken: (rid: number) => boolean): number {
    for (;;) {
      const rid = 1 + this.#random.below(2 ** bits - 1);
      if (!isTaken(rid)) return rid;
    }
  }

  /** Throws if the account is at its quota. */
  checkQuota(): void {
    let count = this.#databases.size;
    for (const { containers } of this.#databases.values()) count += containers.size;
    if (count >= RESOURCES_PER_ACCOUNT_MAX)
      throw new DomainError(
        'forbidden',
        `The account holds ${count} databases and containers, the most it may. Delete some first.`,
      );
  }

  async #load(): Promise<void> {
    for (const prefix of ['db', 'coll', 'res']) {
      let { start, end } = rangeOf(encodeTuple([prefix]));
      for (let more = true; more; ) {
        const page = await this.#store.scan({ start, end }, PAGE);
        for (const { key, value } of page.entries) {
          const record = JSON.parse(bytesToText(value));
          if (prefix === 'db') this.#apply({ databases: [record] });
          else if (prefix === 'coll') this.#apply({ containers: [withHome(record)] });
          else this.#apply({ resources: [record] });
          start = keyAfter(key);
        }
        more = page.more;
      }
    }
  }

  /** Runs before a change is durable: a record without its database, or a hole in the hash space, would stay for ever. */
  #check({ databases = [], containers = [] }: CatalogChange<unknown>): void {
    for (const { databaseRid, partitions } of containers) {
      assert(
        this.#databasesByRid.has(databaseRid) || databases.some(({ rid }) => rid === databaseRid),
        'catalog: a container has a database',
      );
      assert(tilesHashSpace(partitions), 'catalog: partitions tile the hash space');
    }
  }

  #apply(change: Omit<CatalogChange<unknown>, 'result'>): void {
    for (const record of change.databases ?? []) {
      const entry = this.#databasesByRid.get(record.rid) ?? newEntry(record);
      entry.record = record;
      this.#databases.set(record.id, entry);
      this.#databasesByRid.set(record.rid, entry);
    }
    for (const record of change.containers ?? []) {
      const entry = this.#databasesByRid.get(record.databaseRid);
      const before = entry?.containersByRid.get(record.rid);
      if (before !== undefined && before.id !== record.id) entry?.containers.delete(before.id);
      entry?.containers.set(record.id, record);
      entry?.containersByRid.set(record.rid, record);
    }
    for (const record of change.droppedContainers ?? []) {
      const entry = this.#databasesByRid.get(record.databaseRid);
      // Another container may have taken the name in the same change.
      if (entry?.containers.get(record.id)?.rid === record.rid) entry.containers.delete(record.id);
      entry?.containersByRid.delete(record.rid);
      entry?.resources.dropContainer(record.rid);
    }
    for (const resource of change.resources ?? [])
      this.#databasesByRid.get(resource.databaseRid)?.resources.put(resource);
    for (const resource of change.droppedResources ?? [])
      this.#databasesByRid.get(resource.databaseRid)?.resources.drop(resource);
    for (const record of change.droppedDatabases ?? []) {
      this.#databases.delete(record.id);
      this.#databasesByRid.delete(record.rid);
    }
  }
}

/** The change goes on; its caller gets the truth that there is now. */
function answeredWithin<T>(result: Promise<T>, ms: number): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    const text = 'Too few replicas have acknowledged the change; it may take effect later.';
    timer = setTimeout(() => reject(new DomainError('outcomeUnknown', text)), ms);
  });
  return Promise.race([result, late]).finally(() => clearTimeout(timer));
}

/** Records from before containers had a home API: the encoding tells which it was. */
function withHome(record: ContainerRecord): ContainerRecord {
  if (record.home !== undefined) return record;
  return { ...record, home: record.encoding === 'edm' ? 'table' : 'nosql' };
}

/** Records to write and to drop, as one transaction. */
export interface CatalogChange<T> {
  readonly databases?: readonly DatabaseRecord[];
  readonly containers?: readonly ContainerRecord[];
  readonly droppedDatabases?: readonly DatabaseRecord[];
  /** The stored resources of these containers are dropped too. */
  readonly droppedContainers?: readonly ContainerRecord[];
  readonly resources?: readonly StoredResource[];
  readonly droppedResources?: readonly StoredResource[];
  readonly result: T;
}

interface DatabaseEntry {
  record: DatabaseRecord;
  readonly containers: Map<string, ContainerRecord>;
  readonly containersByRid: Map<number, ContainerRecord>;
  readonly resources: StoredResources;
}

function newEntry(record: DatabaseRecord): DatabaseEntry {
  return {
    record,
    containers: new Map(),
    containersByRid: new Map(),
    resources: new StoredResources(),
  };
}

function tilesHashSpace(partitions: readonly PartitionRecord[]): boolean {
  let end = epkToHex(EPK_MIN);
  for (const { min, max } of partitions) {
    if (min !== end || max <= min) return false;
    end = max;
  }
  return end === epkToHex(EPK_MAX);
}

const databaseKey = (record: DatabaseRecord) => encodeTuple(['db', record.rid]);
const containerKey = (record: ContainerRecord) =>
  encodeTuple(['coll', record.databaseRid, record.rid]);

function toBatch(change: CatalogChange<unknown>, version: Entry): Batch {
  const { databases = [], containers = [], resources = [] } = change;
  const { droppedDatabases = [], droppedContainers = [], droppedResources = [] } = change;
  const owned = [
    ...droppedDatabases.map(({ rid }) => ownedPrefix(rid)),
    ...droppedContainers.map(({ databaseRid, rid }) => ownedPrefix(databaseRid, rid)),
  ];
  const toValue = (record: object) => textToBytes(JSON.stringify(record));
  return {
    deleteRanges: owned.map(rangeOf),
    deletes: [
      ...droppedDatabases.map(databaseKey),
      ...droppedContainers.map(containerKey),
      ...droppedResources.map(storedResourceKey),
    ],
    puts: [
      ...databases.map((record) => ({ key: databaseKey(record), value: toValue(record) })),
      ...containers.map((record) => ({ key: containerKey(record), value: toValue(record) })),
      ...resources.map((record) => ({ key: storedResourceKey(record), value: toValue(record) })),
      version,
    ],
  };
}

/** All keys that begin with a prefix. */
function rangeOf(start: Bytes): KeyRange {
  return { start, end: Buffer.concat([start, Uint8Array.of(0xff)]) };
}
