// Goal: change streams tell every change once, in order, and go on where they stopped. Method: the stock driver.
import type { ChangeStreamDocument, MongoClient } from 'mongodb';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Account, ENGINES, startAccount } from './harness.ts';

interface Item {
  _id: number;
  a?: number;
  list?: number[];
}

describe.each(ENGINES)('%s', (engine) => {
  let account: Account;
  let client: MongoClient;
  beforeAll(async () => {
    account = await startAccount({ engine });
    client = await account.connect();
  });
  afterAll(async () => {
    expect(account.failures).toEqual([]);
    await account.close();
  });

  /** The stream is open when it has been asked once. */
  async function opened(name: string, options: object = {}) {
    const items = client.db('streams').collection<Item>(name);
    const stream = items.watch([], options);
    await stream.tryNext();
    return { items, stream };
  }

  const kinds = (events: readonly ChangeStreamDocument[]): string[] =>
    events.map(({ operationType }) => operationType);

  test('inserts, updates, replacements and deletions are events of their own', async () => {
    await client.db('streams').createCollection('all');
    const { items, stream } = await opened('all');
    await items.insertOne({ _id: 1, a: 1, list: [1, 2, 3] });
    await items.updateOne({ _id: 1 }, { $set: { a: 2, 'list.1': 5 } });
    await items.updateOne({ _id: 1 }, { $unset: { a: 1 } });
    await items.replaceOne({ _id: 1 }, { a: 9 });
    await items.deleteOne({ _id: 1 });
    const events: ChangeStreamDocument<Item>[] = [];
    for (let count = 0; count < 5; count++) events.push(await stream.next());
    expect(kinds(events)).toEqual(['insert', 'update', 'update', 'replace', 'delete']);
    expect(events[0]).toMatchObject({
      fullDocument: { _id: 1, a: 1, list: [1, 2, 3] },
      documentKey: { _id: 1 },
      ns: { db: 'streams', coll: 'all' },
    });
    expect(events[1]).toMatchObject({
      updateDescription: { updatedFields: { a: 2, 'list.1': 5 }, removedFields: [] },
    });
    expect(events[2]).toMatchObject({
      updateDescription: { updatedFields: {}, removedFields: ['a'] },
    });
    await stream.close();
  });

  test('tokens of a stream over a database do not grow with collections that are gone', async () => {
    const db = client.db('gone');
    const stream = db.watch();
    await stream.tryNext();
    const lengths: number[] = [];
    for (let round = 0; round < 20; round++) {
      const items = db.collection(`items${round}`);
      await items.insertOne({ a: 1 });
      const event = await stream.next();
      expect(event).toMatchObject({ operationType: 'insert', ns: { coll: `items${round}` } });
      lengths.push((event._id as { _data: string })._data.length);
      await items.drop();
      expect(await stream.next()).toMatchObject({ operationType: 'drop' });
    }
    expect(Math.max(...lengths)).toBeLessThan(2 * Math.min(...lengths));
    await stream.close();
  });

  test('a batch ends with the token of its last event, where nothing was read behind it', async () => {
    await client.db('streams').createCollection('ends');
    const { items, stream } = await opened('ends');
    for (let id = 0; id < 3; id++) {
      await items.insertOne({ _id: id });
      expect((await stream.next())._id).toEqual(stream.resumeToken);
    }
    const last = stream.resumeToken;
    await client.db('streams').collection('beside').insertOne({ a: 1 });
    expect(await stream.tryNext()).toBeNull();
    expect(stream.resumeToken).toEqual(last);
    await stream.close();
  });

  test('what is written while streams are opened, and their collection made, belongs to each', async () => {
    const db = client.db('opening');
    // Connections are open before, so that commands arrive in the order in which they are sent.
    await Promise.all(Array.from({ length: 4 }, () => db.command({ ping: 1 })));
    for (let round = 0; round < 20; round++) {
      const name = `made${round}`;
      await using session = client.startSession();
      await using other = client.startSession();
      const open = { aggregate: name, pipeline: [{ $changeStream: {} }], cursor: { batchSize: 0 } };
      const [one, two] = await Promise.all([
        // The id of a cursor stays a long, however small it is.
        db.command(open, { session, promoteLongs: false }),
        db.command(open, { session: other, promoteLongs: false }),
        db.collection<Item>(name).insertOne({ _id: round }),
        db.collection<Item>(name).createIndex({ a: 1 }),
      ]);
      const event = { operationType: 'insert', documentKey: { _id: round } };
      const more = (cursor: { id: unknown }) => ({
        getMore: cursor.id,
        collection: name,
        maxTimeMS: 5000,
      });
      const first = await db.command(more(one.cursor), { session });
      expect(first.cursor.nextBatch).toMatchObject([event]);
      const second = await db.command(more(two.cursor), { session: other });
      expect(second.cursor.nextBatch).toMatchObject([event]);
      await db.dropCollection(name);
    }
  });

  test('a stream goes on behind any event, also one of many in a command', async () => {
    await client.db('streams').createCollection('resumed');
    const { items, stream } = await opened('resumed');
    await items.insertMany([{ _id: 1 }, { _id: 2 }, { _id: 3 }]);
    await stream.next();
    const { _id: token } = await stream.next();
    await stream.close();
    await items.insertOne({ _id: 4 });
    const next = items.watch([], { resumeAfter: token });
    const found = [await next.next(), await next.next()];
    expect(found.map((event) => 'documentKey' in event && event.documentKey._id)).toEqual([3, 4]);
    await next.close();
  });

  test('an array that $pop made shorter is sent whole, and one of a pipeline as truncated', async () => {
    await client.db('streams').createCollection('arrays');
    const { items, stream } = await opened('arrays');
    await items.insertOne({ _id: 1, list: [1, 2, 3, 4] });
    await items.updateOne({ _id: 1 }, { $pop: { list: 1 } });
    await items.updateOne({ _id: 1 }, [{ $set: { list: { $slice: ['$list', 2] } } }]);
    await stream.next();
    const found = [await stream.next(), await stream.next()];
    expect(found.map((event) => 'updateDescription' in event && event.updateDescription)).toEqual([
      { updatedFields: { list: [1, 2, 3] }, removedFields: [], truncatedArrays: [] },
      {
        updatedFields: {},
        removedFields: [],
        truncatedArrays: [{ field: 'list', newSize: 2 }],
      },
    ]);
    await stream.close();
  });

  test('resume tokens are, as texts, in the order of their events', async () => {
    await client.db('streams').createCollection('sorted');
    const { items, stream } = await opened('sorted');
    await items.insertMany(Array.from({ length: 40 }, (_, _id) => ({ _id })));
    await items.updateMany({}, { $set: { a: 1 } });
    await items.deleteOne({ _id: 7 });
    const tokens: string[] = [];
    for (let count = 0; count < 81; count++)
      tokens.push(((await stream.next())._id as { _data: string })._data);
    expect(tokens.toSorted()).toEqual(tokens);
    await stream.close();
  });

  test('images before and after a change are there where the collection keeps them', async () => {
    await client.db('streams').createCollection('images', {
      changeStreamPreAndPostImages: { enabled: true },
    });
    const { items, stream } = await opened('images', {
      fullDocument: 'required',
      fullDocumentBeforeChange: 'required',
    });
    await items.insertOne({ _id: 1, a: 1 });
    await items.updateOne({ _id: 1 }, { $inc: { a: 1 } });
    await stream.next();
    expect(await stream.next()).toMatchObject({
      operationType: 'update',
      fullDocument: { _id: 1, a: 2 },
      fullDocumentBeforeChange: { _id: 1, a: 1 },
    });
    await stream.close();
  });

  test('a change stream at another read concern than majority is refused', async () => {
    const stream = client.db('streams').collection('level').watch([], { readConcern: 'local' });
    await expect(stream.next()).rejects.toMatchObject({
      code: 72,
      message:
        "Aggregation stage $changeStream cannot run with a readConcern other than 'majority', or in a multi-document transaction. Current readConcern: local",
    });
  });

  test('a drop ends the stream of a collection; that of a database sees new collections', async () => {
    await client.db('streams').createCollection('dropped');
    const { items, stream } = await opened('dropped');
    await items.insertOne({ _id: 1 });
    await items.drop();
    const events = [await stream.next(), await stream.next(), await stream.next()];
    expect(kinds(events)).toEqual(['insert', 'drop', 'invalidate']);
    const behindDrop = items.watch([], { resumeAfter: events[1]?._id });
    expect(kinds([await behindDrop.next()])).toEqual(['invalidate']);
    const whole = client.db('watched').watch();
    await whole.tryNext();
    await client.db('watched').collection<Item>('new').insertOne({ _id: 7 });
    expect(await whole.next()).toMatchObject({
      operationType: 'insert',
      ns: { db: 'watched', coll: 'new' },
    });
    await whole.close();
  });
});
