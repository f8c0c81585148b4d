/** Accounts in the partitions of two containers, and transfers between them that must be whole or nothing. */
import {
  bytesToText,
  DomainError,
  type Random,
  seededRandom,
  textToBytes,
} from '../../src/base/index.ts';
import { type ContainerRecord, DEFAULT_INDEXING_POLICY } from '../../src/catalog/index.ts';
import type { Service } from '../../src/service/index.ts';

const KEYS = 8;
const BALANCE = 100;
/** More than one command takes, over all partitions. */
export const EDGES = 10_500;

interface Account {
  readonly container: ContainerRecord;
  readonly pk: string;
}

export class Bank {
  readonly #service: Service;
  readonly #accounts: readonly Account[];

  constructor(service: Service, containers: readonly ContainerRecord[]) {
    this.#service = service;
    this.#accounts = containers.flatMap((container) =>
      Array.from({ length: KEYS }, (_, key) => ({ container, pk: `k${key}` })),
    );
  }

  /** Creates what is not there yet. */
  static async open(service: Service): Promise<Bank> {
    const database =
      service.databases.find('d') ?? (await service.databases.create('d', undefined));
    const containers: ContainerRecord[] = [];
    for (const id of ['a', 'b'])
      containers.push(
        service.containers.find(database, id) ??
          (await service.containers.create(database.rid, {
            id,
            partitionKey: { paths: ['/pk'], kind: 'Hash', version: 2 },
            home: 'nosql',
            indexingPolicy: DEFAULT_INDEXING_POLICY,
            uniqueKeys: [],
            policies: {},
            throughput: { kind: 'manual', requestUnits: 3000 },
          })),
      );
    const bank = new Bank(service, containers);
    for (const account of bank.#accounts) await bank.#create(account);
    return bank;
  }

  async #create({ container, pk }: Account): Promise<void> {
    const write = { ...put(pk, 'account', { balance: BALANCE }), kind: 'create' as const };
    await this.#service.items.write(container, write).catch((error: unknown) => {
      if (!(error instanceof DomainError && error.code === 'itemExists')) throw error;
    });
  }

  /** False where others were faster. Leaves a note of this name at every account. */
  async transfer(name: string, random: Random): Promise<boolean> {
    const drawn = new Set<Account>();
    while (drawn.size < 3)
      drawn.add(this.#accounts[random.below(this.#accounts.length)] as Account);
    const open = this.#service.transactions.begin();
    try {
      for (const [at, { container, pk }] of [...drawn].entries()) {
        const item = await open.read(container, { partitionKey: [pk], rowKey: ['account'] });
        if (item === undefined) throw new Error('an account is gone');
        const { balance } = JSON.parse(bytesToText(item.body)) as { balance: number };
        await open.write(container, put(pk, 'account', { balance: balance + (at === 0 ? -2 : 1) }));
        await open.write(container, put(pk, `t-${name}`, { of: drawn.size }));
      }
      await open.commit();
      return true;
    } catch (error) {
      if (!(error instanceof DomainError && error.code === 'retryWith')) throw error;
      return false;
    }
  }

  async fill(): Promise<void> {
    const writes: Promise<unknown>[] = [];
    for (const { container, pk, id } of this.#edges())
      writes.push(this.#service.items.write(container, put(pk, id, { edge: true })));
    await Promise.all(writes);
  }

  async drop(): Promise<void> {
    const open = this.#service.transactions.begin();
    for (const { container, pk, id } of this.#edges())
      await open.write(container, { kind: 'delete', partitionKey: [pk], rowKey: [id] });
    await open.commit();
  }

  *#edges(): Generator<Account & { readonly id: string }> {
    const random = seededRandom(1);
    for (let number = 0; number < EDGES; number++) {
      const account = this.#accounts[random.below(this.#accounts.length)] as Account;
      yield { ...account, id: `e${number}` };
    }
  }

  /** All accounts, and how many notes each transfer has left. */
  async read(): Promise<BankState> {
    const notes = new Map<string, { count: number; of: number }>();
    let balance = 0;
    let edges = 0;
    for (const container of new Set(this.#accounts.map((account) => account.container)))
      for (const { id: partition } of container.partitions) {
        const page = await this.#service.items.feed(container, {
          scope: { kind: 'partition', id: partition },
          limit: 1e6,
          bytesMax: 1e9,
          continuation: undefined,
          sessionToken: undefined,
        });
        if (page.continuation !== undefined) throw new Error('there is more');
        for (const { body } of page.items) {
          const item = JSON.parse(bytesToText(body)) as Stored;
          balance += item.balance ?? 0;
          edges += item.edge === true ? 1 : 0;
          if (item.of === undefined) continue;
          const note = notes.get(item.id) ?? { count: 0, of: item.of };
          note.count++;
          notes.set(item.id, note);
        }
      }
    return { isWhole: balance === this.#accounts.length * BALANCE, notes, edges };
  }
}

interface BankState {
  /** Whether the sum of all accounts is what it was. */
  readonly isWhole: boolean;
  /** By the ids of notes. */
  readonly notes: ReadonlyMap<string, { readonly count: number; readonly of: number }>;
  readonly edges: number;
}

interface Stored {
  readonly id: string;
  readonly balance?: number;
  readonly of?: number;
  readonly edge?: boolean;
}

function put(pk: string, id: string, fields: object) {
  const body = textToBytes(JSON.stringify({ id, pk, ...fields }));
  return { kind: 'upsert' as const, partitionKey: [pk], rowKey: [id], body, ttlSec: 0 };
}
