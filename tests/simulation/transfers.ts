/**
 * One history of clients that transfer amounts between accounts of several partitions and containers, while partitions
 * are split and merged and the process crashes. The sum of all accounts never changes.
 */
import { expect } from 'vitest';
import {
  bytesToText,
  DomainError,
  FakeClock,
  type Random,
  seededRandom,
  TRANSACTION_LIFETIME_MS,
  textToBytes,
} from '../../src/base/index.ts';
import type { ContainerRecord } from '../../src/catalog/index.ts';
import { ANYTHING, type ExecutableQuery } from '../../src/query/index.ts';
import type { Service, Transaction } from '../../src/service/index.ts';
import type { Point, SimulatedProcess } from './process.ts';
import { World } from './world.ts';

const CONTAINERS = 2;
const KEYS = 5;
const ACCOUNTS_PER_KEY = 2;
const CLIENTS = 4;
const BALANCE = 100;
const ACCOUNTS = CONTAINERS * KEYS * ACCOUNTS_PER_KEY;
const TOTAL = ACCOUNTS * BALANCE;
/** Prefixes of what is stored of transactions. */
const PREPARED_AND_OUTCOMES = [0x33, 0x34];

export interface TransfersReport {
  readonly crashes: readonly Point[];
  readonly committed: number;
  readonly refused: number;
  readonly audits: number;
  readonly resizes: number;
}

export async function runTransfers(
  seed: number,
  rounds: number,
  crashPoint?: Point,
): Promise<TransfersReport> {
  const transfers = new Transfers(seed, crashPoint);
  await transfers.begin();
  for (let round = 0; round < rounds; round++) await transfers.round();
  return transfers.end();
}

interface Account {
  readonly container: number;
  readonly pk: string;
  readonly id: string;
}

/** A stored account. The number of its transfers shows lost updates. */
interface Stored {
  readonly balance: number;
  readonly transfers: number;
}

/** What a client knows of the end of its transfer. */
type End = 'unknown' | 'committed' | 'refused';

interface Transfer {
  readonly accounts: readonly Account[];
  end: End;
}

/** Every account once: [balance, transfers]. Notes of transfers are no accounts. */
const BALANCES: ExecutableQuery = {
  condition: ANYTHING,
  shape: {
    kind: 'streaming',
    rowsOf: (item) => {
      const { balance } = item.value() as Partial<Stored>;
      return balance === undefined ? [] : [{ value: balance, keys: [] }];
    },
    order: undefined,
    skip: 0,
    take: Number.POSITIVE_INFINITY,
  },
};

class Transfers {
  readonly #random: Random;
  readonly #crashPoint: Point | undefined;
  readonly #clock = new FakeClock();
  readonly #world: World;
  readonly #transfers: Transfer[] = [];
  readonly #accounts: Account[] = [];
  #audits = 0;
  #background: Promise<unknown>[] = [];

  constructor(seed: number, crashPoint: Point | undefined) {
    this.#random = seededRandom(seed);
    this.#crashPoint = crashPoint;
    this.#world = new World({
      random: this.#random,
      clock: this.#clock,
      settings: { partitionThroughputLimit: 1000, logicalPartitionLimit: 2 ** 30 },
    });
    for (let container = 0; container < CONTAINERS; container++)
      for (let key = 0; key < KEYS; key++)
        for (let id = 0; id < ACCOUNTS_PER_KEY; id++)
          this.#accounts.push({ container, pk: `k${key}`, id: `a${id}` });
  }

  async begin(): Promise<void> {
    await this.#world.create(3000, CONTAINERS);
    for (const account of this.#accounts)
      await this.#world.service.items.write(
        this.#containerOf(account),
        upsert(account, { balance: BALANCE, transfers: 0 }),
      );
  }

  async round(): Promise<void> {
    const { process } = this.#world;
    const drawn = this.#random.below(10);
    if (drawn < 3) this.#resize(drawn < 2 ? 'split' : 'merge');
    else if (drawn < 6) this.#armCrash();
    else if (drawn < 8) process.failAfter(1 + this.#random.below(60), drawn === 7);
    const clients = Array.from({ length: CLIENTS }, () => this.#client());
    await process.untilCrash(Promise.all(clients));
    if (process.hasCrashed) await this.#recover();
  }

  async end(): Promise<TransfersReport> {
    this.#world.process.disarm();
    await Promise.all(this.#background);
    await this.#check();
    // Aborts that were written for the dead are kept for the life of a transaction.
    this.#clock.advance(TRANSACTION_LIFETIME_MS + 1);
    await this.#world.close();
    await this.#recover();
    await this.#check();
    await this.#world.close();
    expect(await this.#world.entries(PREPARED_AND_OUTCOMES)).toEqual([]);
    const count = (end: End) => this.#transfers.filter((transfer) => transfer.end === end).length;
    return {
      crashes: this.#world.crashes,
      committed: count('committed'),
      refused: count('refused'),
      audits: this.#audits,
      resizes: this.#world.resizeCount,
    };
  }

  /** Some work of one client. It ends with its process: a client that waits in a dead one must not work in the next. */
  async #client(): Promise<void> {
    const { process, service } = this.#world;
    for (let count = 0; count < 3 && !process.hasCrashed; count++) {
      const drawn = this.#random.below(10);
      if (drawn < 6) await this.#transfer(process, service);
      else if (drawn < 8) await this.#audit(process, service, drawn === 6);
      else await this.#touch(service);
    }
  }

  /** Moves an amount from one account to others, and leaves a note in each partition key. */
  async #transfer(process: SimulatedProcess, service: Service): Promise<void> {
    const accounts = this.#draw(2 + this.#random.below(3));
    const [from, ...to] = accounts as [Account, ...Account[]];
    const number = this.#transfers.length;
    const transfer: Transfer = { accounts, end: 'unknown' };
    this.#transfers.push(transfer);
    const open = service.transactions.begin();
    try {
      const stored = await Promise.all(accounts.map((account) => this.#read(open, account)));
      if (this.#random.below(5) === 0) await this.#sum(open);
      const amount = this.#random.below(10);
      for (const [at, account] of [from, ...to].entries()) {
        const { balance, transfers } = stored[at] as Stored;
        const change = at === 0 ? -amount * to.length : amount;
        const next = { balance: balance + change, transfers: transfers + 1 };
        await open.write(this.#containerOf(account), upsert(account, next));
        await open.write(this.#containerOf(account), upsert(noteOf(account, number), {}));
      }
      if (this.#random.below(10) === 0) {
        transfer.end = 'refused';
        await open.abort();
        return;
      }
      await open.commit();
      if (!process.hasCrashed) transfer.end = 'committed';
    } catch (error) {
      const isKnown = !isFailure(error);
      if (isKnown) this.#refused(error);
      if (isKnown && !process.hasCrashed) transfer.end = 'refused';
    }
  }

  /** A transaction that only reads sees the whole sum, where it commits. */
  async #audit(process: SimulatedProcess, service: Service, isQuery: boolean): Promise<void> {
    const open = service.transactions.begin();
    try {
      const sum = await (isQuery ? this.#sum(open) : this.#sumByKey(open));
      await open.commit();
      if (process.hasCrashed) return;
      expect(sum).toBe(TOTAL);
      this.#audits++;
    } catch (error) {
      this.#refused(error);
    }
  }

  async #sumByKey(open: Transaction): Promise<number> {
    let sum = 0;
    for (const account of this.#accounts) sum += (await this.#read(open, account)).balance;
    return sum;
  }

  async #sum(open: Transaction): Promise<number> {
    let sum = 0;
    for (const container of this.#world.containers) {
      let continuation: string | undefined;
      do {
        const page = await open.query(container, {
          query: BALANCES,
          ranges: [{ min: '', max: 'FF' }],
          continuation,
          limit: 1 + this.#random.below(20),
          sessionToken: undefined,
        });
        for (const { value } of page.rows) sum += value as number;
        ({ continuation } = page);
      } while (continuation !== undefined);
    }
    return sum;
  }

  /** A single write that leaves the balance as it is, on condition. */
  async #touch({ items }: Service): Promise<void> {
    const [account] = this.#draw(1) as [Account];
    const { item } = await items.read(this.#containerOf(account), addressOf(account), undefined);
    if (item === undefined) throw new Error('an account is gone');
    const write = { ...upsert(account, storedOf(item.body)), ifMatch: item.etag };
    await items.write(this.#containerOf(account), write).catch((error) => this.#refused(error));
  }

  async #read(open: Transaction, account: Account): Promise<Stored> {
    const item = await open.read(this.#containerOf(account), addressOf(account));
    if (item === undefined) throw new Error('an account is gone');
    return storedOf(item.body);
  }

  /** Refusals that a client has to expect. */
  #refused(error: unknown): void {
    if (isFailure(error)) return;
    if (!(error instanceof DomainError)) throw error;
    expect(['retryWith', 'preconditionFailed']).toContain(error.code);
  }

  #armCrash(): void {
    const { process } = this.#world;
    if (this.#crashPoint === undefined) process.crashAfter(1 + this.#random.below(120));
    else process.crashAt(this.#crashPoint);
  }

  #resize(kind: 'split' | 'merge'): void {
    const { process, service, containers } = this.#world;
    const container = containers[this.#random.below(containers.length)] as ContainerRecord;
    const at = this.#random.below(container.partitions.length);
    const ids = container.partitions.slice(at, at + 2).map(({ id }) => id);
    const work = (
      kind === 'split'
        ? service.resizer.split(container, ids[0] as string)
        : service.resizer.merge(container, ids)
    ).catch((error: unknown) => {
      if (!(error instanceof DomainError)) throw error;
      expect(['invalidInput', 'partitionGone', 'unavailable']).toContain(error.code);
    });
    this.#background.push(process.untilCrash(work));
  }

  async #recover(): Promise<void> {
    this.#background = [];
    do {
      await this.#world.startProcess();
      if (this.#random.below(4) === 0) this.#world.process.crashAfter(1 + this.#random.below(20));
    } while ((await this.#world.open()) === 'crashed');
    // Reading opens partitions, which resolve what the crash left: this may crash again.
    const checked = await this.#world.process.untilCrash(this.#check());
    if (checked === 'crashed') await this.#recover();
    this.#world.process.disarm();
  }

  /** Nobody is at work: plain reads find the whole sum, and every transfer whole or not at all. */
  async #check(): Promise<void> {
    const { service } = this.#world;
    let sum = 0;
    const counts = new Map<string, number>();
    for (const account of this.#accounts) {
      const container = this.#containerOf(account);
      const { item } = await service.items.read(container, addressOf(account), undefined);
      if (item === undefined) throw new Error('an account is gone');
      const { balance, transfers } = storedOf(item.body);
      sum += balance;
      counts.set(nameOf(account), transfers);
    }
    const expected = new Map(this.#accounts.map((account) => [nameOf(account), 0]));
    for (const [number, { accounts, end }] of this.#transfers.entries()) {
      const notes = await Promise.all(
        accounts.map(async (account) => {
          const address = addressOf(noteOf(account, number));
          const { item } = await service.items.read(this.#containerOf(account), address, undefined);
          return item !== undefined;
        }),
      );
      const isApplied = notes[0] === true;
      expect(new Set(notes), `transfer ${number}, ${end}`).toEqual(new Set([isApplied]));
      if (end !== 'unknown')
        expect(isApplied, `transfer ${number}, ${end}`).toBe(end === 'committed');
      if (isApplied)
        for (const account of accounts)
          expected.set(nameOf(account), (expected.get(nameOf(account)) ?? 0) + 1);
    }
    expect(counts).toEqual(expected);
    expect(sum).toBe(TOTAL);
  }

  /** Different accounts. */
  #draw(count: number): readonly Account[] {
    const drawn = new Set<Account>();
    while (drawn.size < count)
      drawn.add(this.#accounts[this.#random.below(this.#accounts.length)] as Account);
    return [...drawn];
  }

  #containerOf({ container }: Account): ContainerRecord {
    return this.#world.containers[container] as ContainerRecord;
  }
}

/** The disk failed: the write may be stored or not, and a query under way finds its store closed. */
function isFailure(error: unknown): boolean {
  return error instanceof DomainError && ['unavailable', 'outcomeUnknown'].includes(error.code);
}

const addressOf = ({ pk, id }: Account) => ({ partitionKey: [pk], rowKey: [id] });

const nameOf = ({ container, pk, id }: Account) => `${container}/${pk}/${id}`;

const noteOf = ({ container, pk, id }: Account, number: number): Account => ({
  container,
  pk,
  id: `t${number}-${id}`,
});

function upsert(account: Account, fields: Partial<Stored>) {
  const { pk, id } = account;
  const body = textToBytes(JSON.stringify({ pk, id, ...fields }));
  return { kind: 'upsert' as const, ...addressOf(account), body, ttlSec: 0 };
}

function storedOf(body: Uint8Array): Stored {
  return JSON.parse(bytesToText(body)) as Stored;
}
