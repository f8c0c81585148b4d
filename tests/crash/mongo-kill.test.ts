// Goal: kill -9 keeps every write that a MongoDB driver had acknowledged, with w: 1 and with w: 'majority'.
// Method: writers with ledgers, killed after a number of acknowledgements; the server must hold exactly the ledgers.
import { type Collection, MongoClient, MongoServerError } from 'mongodb';
import { expect, test } from 'vitest';
import { ChildServer } from '../server/child-server.ts';
import { newStorage, TIMEOUT_MS } from './storage.ts';

const ROUNDS = 3;
const WRITERS = 8;
/** Acknowledged writes of a round before the kill. */
const WRITES = 150;

interface Row {
  _id: string;
  version: number;
  list: number[];
}

/** What a row is, and what the write under way would make of it. Version 0 is no row. */
interface Entry {
  acknowledged: number;
  pending: number;
}

class Writer {
  readonly ledger = new Map<string, Entry>();
  readonly #name: string;
  readonly #concern: { readonly w: 1 | 'majority' };
  #made = 0;

  constructor(number: number) {
    this.#name = `w${number}`;
    this.#concern = { w: number % 2 === 0 ? 1 : 'majority' };
  }

  /** Writes until the connection breaks. An error of the server fails the test. */
  async writeUntilBroken(rows: Collection<Row>, onAcknowledged: () => boolean): Promise<void> {
    for (let goesOn = true; goesOn; ) {
      const number = this.#made++;
      // Every third write makes a row; the others change the newest.
      const id = `${this.#name}-${Math.floor(number / 3)}`;
      const entry = this.ledger.get(id) ?? { acknowledged: 0, pending: 0 };
      this.ledger.set(id, entry);
      entry.pending = entry.acknowledged + 1;
      try {
        await this.#write(rows, id, entry);
      } catch (error) {
        if (error instanceof MongoServerError) throw error;
        return;
      }
      entry.acknowledged = entry.pending;
      goesOn = onAcknowledged();
    }
  }

  async #write(rows: Collection<Row>, _id: string, { acknowledged }: Entry): Promise<void> {
    const options = { writeConcern: this.#concern };
    if (acknowledged === 0) {
      await rows.insertOne({ _id, version: 1, list: [1] }, options);
      return;
    }
    const change = { $inc: { version: 1 }, $push: { list: acknowledged + 1 } };
    const result = await rows.updateOne({ _id, version: acknowledged }, change, options);
    expect(result.modifiedCount).toBe(1);
  }

  /** Compares what is there with the ledger; a write that was under way may be there or not. */
  completeLedger(found: ReadonlyMap<string, Row>): void {
    for (const [id, entry] of this.ledger) {
      const row = found.get(id);
      const version = row?.version ?? 0;
      expect([entry.acknowledged, entry.pending], id).toContain(version);
      expect(row?.list ?? []).toEqual(Array.from({ length: version }, (_, at) => at + 1));
      entry.acknowledged = version;
      entry.pending = version;
    }
  }
}

test(`${ROUNDS} times kill -9 under drivers that wait for one node and for the majority`, {
  timeout: TIMEOUT_MS,
}, async () => {
  const storage = newStorage();
  const writers = Array.from({ length: WRITERS }, (_, number) => new Writer(number));
  for (let round = 0; round < ROUNDS; round++) {
    await using server = await ChildServer.start(storage);
    const client = clientOf(server);
    try {
      const rows = client.db('d').collection<Row>('rows');
      await check(rows, writers);
      if (round === 0) await rows.createIndex({ version: 1 });
      let acknowledged = 0;
      await Promise.all([
        ...writers.map((writer) =>
          writer.writeUntilBroken(rows, () => {
            if (++acknowledged === WRITES) void server.stop('SIGKILL');
            return acknowledged < WRITES;
          }),
        ),
        server.exit,
      ]);
      expect(acknowledged).toBeGreaterThanOrEqual(WRITES);
    } finally {
      await client.close();
    }
  }
  await using server = await ChildServer.start(storage);
  const client = clientOf(server);
  try {
    const rows = client.db('d').collection<Row>('rows');
    await check(rows, writers);
    // The index holds what the documents hold.
    const firsts = writers.flatMap(({ ledger }) =>
      [...ledger.values()].filter((entry) => entry.acknowledged === 3),
    );
    expect(await rows.countDocuments({ version: 3 }, { hint: 'version_1' })).toBe(firsts.length);
  } finally {
    await client.close();
  }
});

async function check(rows: Collection<Row>, writers: readonly Writer[]): Promise<void> {
  const found = new Map((await rows.find().toArray()).map((row) => [row._id, row]));
  for (const writer of writers) writer.completeLedger(found);
  const live = writers.flatMap(({ ledger }) =>
    [...ledger.values()].filter((entry) => entry.acknowledged > 0),
  );
  expect(found.size).toBe(live.length);
}

/** A driver that does not send a write twice: the ledger knows of one attempt. */
function clientOf({ ready }: ChildServer): MongoClient {
  const { host } = new URL(String(ready.endpoints.mongo));
  const uri = `mongodb://localhost:${encodeURIComponent(ready.key)}@${host}/?directConnection=true`;
  return new MongoClient(uri, { retryWrites: false, serverSelectionTimeoutMS: 10_000 });
}
