// Goal: splits and merges are invisible to every form of query and feed that the stock client has: right results, no
// error, no client that never returns. Method: a thread of clients runs all forms in loops, some with the ranges of the
// beginning and some with the current ones, while partitions are split and merged; each change waits for every form.
import { Worker } from 'node:worker_threads';
import type { ContainerRequest } from '@azure/cosmos';
import { expect, test } from 'vitest';
import { DomainError, seededRandom } from '../../../../src/base/index.ts';
import type { ContainerRecord, PartitionRecord } from '../../../../src/catalog/index.ts';
import { type Account, PRIMARY_KEY, startAccount } from '../harness.ts';
import type { ClientMessage, ClientTask } from './resizing-client.ts';

const IS_LONG = process.env.MESOCOSM_LONG !== undefined;
const SPLITS = IS_LONG ? 200 : 20;
/** After every fourth split. */
const SPLITS_PER_MERGE = 4;
const ITEMS = 90;
const SEED = Number(process.env.MESOCOSM_SEED ?? 15);
const FORMS = 22;
/** Far longer than a round takes: a client that is silent for so long has stopped. */
const SILENCE_MAX_MS = 120_000;
const TIMEOUT_MS = 1_200_000;

test(
  `every query form of the stock client through ${SPLITS} splits and ${SPLITS / SPLITS_PER_MERGE} merges (seed ${SEED})`,
  async () => {
    const account = await startAccount();
    try {
      await fill(account);
      const clients = new Clients(account);
      try {
        await resize(account, clients);
      } finally {
        await clients.end();
      }
      expect(account.failures).toEqual([]);
    } finally {
      await account.close();
    }
  },
  TIMEOUT_MS,
);

async function resize(account: Account, clients: Clients): Promise<void> {
  const random = seededRandom(SEED);
  const { resizer } = account.service;
  await clients.rounds(1);
  for (let n = 1; n <= SPLITS; n++) {
    const { partitions } = record(account);
    const { id } = partitions[random.below(partitions.length)] as PartitionRecord;
    await Promise.all([splitOne(account, id), clients.messages(FORMS)]);
    if (n % SPLITS_PER_MERGE === 0) {
      const { partitions: live } = record(account);
      // All of the long run would be too many partitions for one container.
      const count = IS_LONG ? SPLITS_PER_MERGE : 2;
      const first = random.below(live.length - count + 1);
      const ids = live.slice(first, first + count).map((partition) => partition.id);
      await Promise.all([resizer.merge(record(account), ids), clients.messages(FORMS)]);
    }
  }
  const { split, merge } = resizer.log.totals;
  expect([split.done, split.failed, merge.done, merge.failed]).toEqual([
    SPLITS,
    0,
    SPLITS / SPLITS_PER_MERGE,
    0,
  ]);
  await clients.rounds(1);
}

/** The widest partition is split where this one has no room for a border. */
async function splitOne(account: Account, id: string): Promise<void> {
  const { resizer } = account.service;
  try {
    await resizer.split(record(account), id, 'anywhere');
  } catch (error) {
    if (!(error instanceof DomainError && error.code === 'invalidInput')) throw error;
    await resizer.split(record(account), resizer.widest(record(account)), 'anywhere');
  }
}

/** The thread of clients, and how far each form has come. */
class Clients {
  readonly #worker: Worker;
  readonly #rounds = new Map<string, number>();
  #messages = 0;
  #failure: Error | undefined;
  #onMessage: () => void = () => undefined;

  constructor({ endpoint }: Account) {
    const workerData: ClientTask = { endpoint, key: PRIMARY_KEY, fixedCount: ITEMS };
    this.#worker = new Worker(new URL('./resizing-client.ts', import.meta.url), { workerData });
    this.#worker.on('message', (message: ClientMessage) => {
      this.#messages++;
      if (message.kind === 'failure')
        this.#failure ??= new Error(`${message.form}: ${message.error}`);
      else this.#rounds.set(message.form, (this.#rounds.get(message.form) ?? 0) + 1);
      this.#onMessage();
    });
    this.#worker.on('error', (error: Error) => {
      this.#failure ??= error;
      this.#onMessage();
    });
  }

  /** Resolves when every form has done so many more rounds. */
  rounds(count: number): Promise<void> {
    const before = new Map(this.#rounds);
    const lagging = () =>
      [...this.#rounds].filter(([form, n]) => n < (before.get(form) ?? 0) + count);
    return this.#until(() => this.#rounds.size === FORMS && lagging().length === 0);
  }

  /** Resolves when so many rounds were done, whatever their forms: slow ones meet several changes in one round. */
  messages(count: number): Promise<void> {
    const before = this.#messages;
    return this.#until(() => this.#messages >= before + count);
  }

  async end(): Promise<void> {
    await this.#worker.terminate();
  }

  async #until(isDone: () => boolean): Promise<void> {
    const stopped = Promise.withResolvers<void>();
    const timer = setTimeout(() => {
      const rounds = JSON.stringify([...this.#rounds]);
      stopped.reject(new Error(`Some form never returns; rounds so far: ${rounds}`));
    }, SILENCE_MAX_MS);
    try {
      while (!isDone()) {
        if (this.#failure !== undefined) throw this.#failure;
        const message = new Promise<void>((resolve) => {
          this.#onMessage = resolve;
        });
        await Promise.race([message, stopped.promise]);
      }
    } finally {
      clearTimeout(timer);
      stopped.resolve();
    }
  }
}

async function fill(account: Account): Promise<void> {
  const { database } = await account.client().databases.create({ id: 'd' });
  const spec = {
    id: 'c',
    partitionKey: '/pk',
    throughput: 1000,
    vectorEmbeddingPolicy: {
      vectorEmbeddings: [
        { path: '/v', dataType: 'float32', dimensions: 3, distanceFunction: 'cosine' },
      ],
    },
    fullTextPolicy: {
      defaultLanguage: 'en-US',
      fullTextPaths: [{ path: '/text', language: 'en-US' }],
    },
    indexingPolicy: {
      includedPaths: [{ path: '/*' }],
      excludedPaths: [{ path: '/v/*' }],
      vectorIndexes: [{ path: '/v', type: 'flat' }],
      fullTextIndexes: [{ path: '/text' }],
    },
  } as ContainerRequest;
  const { container } = await database.containers.create(spec);
  const random = seededRandom(SEED);
  for (let n = 0; n < ITEMS; n++)
    await container.items.create({
      id: `f${n}`,
      pk: `k${n % 40}`,
      t: 'fixed',
      n: (n * 37) % ITEMS,
      g: `g${n % 11}`,
      v: [random.below(1000) / 1000, random.below(1000) / 1000, random.below(1000) / 1000],
      // The word once in texts of different lengths: the order by score is that of the lengths.
      text: `amber${' stone'.repeat(n)}`,
    });
}

function record({ service }: Account): ContainerRecord {
  const database = service.databases.find('d');
  const container = database && service.containers.find(database, 'c');
  if (container === undefined) throw new Error('no container');
  return container;
}
