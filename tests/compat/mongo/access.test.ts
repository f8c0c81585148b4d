// Goal: only callers with a key get in, and what they may do follows from it. Method: the stock driver, exact refusals.
import { MongoClient } from 'mongodb';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Account, ENGINES, KEY, READONLY_KEY, startAccount } from './harness.ts';

describe.each(ENGINES)('%s', (engine) => {
  let account: Account;
  beforeAll(async () => {
    account = await startAccount({ engine });
  });
  afterAll(async () => {
    expect(account.failures).toEqual([]);
    await account.close();
  });

  async function attempt(uri: string): Promise<unknown> {
    const client = new MongoClient(uri, { serverSelectionTimeoutMS: 3000 });
    try {
      return await client.db('d').command({ find: 'c' });
    } catch (error) {
      const { code, codeName, message } = error as {
        code: number;
        codeName: string;
        message: string;
      };
      return { code, codeName, message };
    } finally {
      await client.close();
    }
  }

  test('a wrong key and an unknown user are refused alike', async () => {
    const refused = {
      code: 18,
      codeName: 'AuthenticationFailed',
      message: 'Authentication failed.',
    };
    expect(await attempt(account.uri('localhost', 'd3Jvbmc='))).toEqual(refused);
    expect(await attempt(account.uri('nobody', KEY))).toEqual(refused);
    expect(account.refusals).toContainEqual({
      from: '127.0.0.1',
      reason: 'saslContinue: AuthenticationFailed',
    });
  });

  test('without authentication only hello, ping and their kind are answered', async () => {
    const uri = `mongodb://127.0.0.1:${account.port}/?directConnection=true`;
    expect(await attempt(uri)).toEqual({
      code: 13,
      codeName: 'Unauthorized',
      message: 'Command find requires authentication',
    });
    const client = new MongoClient(uri);
    expect(await client.db('admin').command({ ping: 1 })).toMatchObject({ ok: 1 });
    await client.close();
  });

  test('SCRAM-SHA-1 gets in too, PLAIN does not', async () => {
    expect(await attempt(`${account.uri()}&authMechanism=SCRAM-SHA-1`)).toMatchObject({ ok: 1 });
    expect(await attempt(`${account.uri()}&authMechanism=PLAIN`)).toMatchObject({
      code: 18,
      message: 'Received authentication for mechanism PLAIN which is unknown or not enabled',
    });
  });

  test('a read-only key reads and does not write', async () => {
    const writer = await account.connect();
    await writer.db('d').collection('c').insertOne({ a: 1 });
    const reader = await account.connect({}, READONLY_KEY);
    expect(await reader.db('d').collection('c').countDocuments()).toBe(1);
    await expect(reader.db('d').collection('c').insertOne({ a: 2 })).rejects.toMatchObject({
      code: 13,
      message: 'not authorized on d to execute command insert: the key is read-only',
    });
    expect((await reader.db('admin').command({ connectionStatus: 1 })).authInfo).toEqual({
      authenticatedUsers: [{ user: 'localhost', db: 'admin' }],
      authenticatedUserRoles: [{ role: 'readAnyDatabase', db: 'admin' }],
    });
  });

  test('hello describes a replica set of one', async () => {
    const client = await account.connect();
    const address = `127.0.0.1:${account.port}`;
    expect(await client.db('admin').command({ hello: 1 })).toMatchObject({
      isWritablePrimary: true,
      setName: 'globaldb',
      hosts: [address],
      me: address,
      primary: address,
      minWireVersion: 0,
      maxWireVersion: 25,
      maxBsonObjectSize: 16777216,
      maxMessageSizeBytes: 48000000,
      maxWriteBatchSize: 100000,
      logicalSessionTimeoutMinutes: 30,
      ok: 1,
    });
  });

  test('unknown commands, wrong types and bad names have the codes of MongoDB', async () => {
    const db = (await account.connect()).db('d');
    const refusal = async (command: object) => {
      try {
        return await db.command(command);
      } catch (error) {
        const { code, codeName, message } = error as {
          code: number;
          codeName: string;
          message: string;
        };
        return [code, codeName, message];
      }
    };
    expect(await refusal({ unheard: 1 })).toEqual([
      59,
      'CommandNotFound',
      "no such command: 'unheard'",
    ]);
    expect(await refusal({ find: 'c', filter: 5 })).toEqual([
      14,
      'TypeMismatch',
      "BSON field 'find.filter' is the wrong type 'int', expected type 'object'",
    ]);
    expect(await refusal({ find: '' })).toEqual([
      73,
      'InvalidNamespace',
      "Invalid namespace specified 'd.'",
    ]);
    expect(await refusal({ find: 'c', filter: { a: { $foo: 1 } } })).toEqual([
      2,
      'BadValue',
      'unknown operator: $foo',
    ]);
    expect(await refusal({ aggregate: 'c', pipeline: [{ $foo: 1 }], cursor: {} })).toEqual([
      40324,
      'Location40324',
      "Unrecognized pipeline stage name: '$foo'",
    ]);
    expect(await refusal({ insert: 'c', documents: [] })).toEqual([
      16,
      'InvalidLength',
      'Write batch sizes must be between 1 and 100000. Got 0 operations.',
    ]);
    expect(await refusal({ create: 'x', capped: true })).toEqual([
      72,
      'InvalidOptions',
      "the 'size' field is required when 'capped' is true",
    ]);
    expect(await refusal({ create: 'x', foo: 1 })).toEqual([
      40415,
      'IDLUnknownField',
      "BSON field 'create.foo' is an unknown field.",
    ]);
  });

  test('the charge of the last command of a connection is reported, and metrics count it', async () => {
    const client = await account.connect({ maxPoolSize: 1 });
    const db = client.db('d');
    await db.collection<{ _id: number }>('charged').insertOne({ _id: 1 });
    const statistics = await db.command({ getLastRequestStatistics: 1 });
    expect(statistics).toMatchObject({
      CommandName: 'insert',
      RequestCharge: expect.any(Number),
      RequestDurationInMilliSeconds: expect.any(Number),
      ok: 1,
    });
    expect(statistics.RequestCharge).toBeGreaterThan(2);
    await db.collection<{ _id: number }>('charged').findOne({ _id: 1 });
    expect((await db.command({ getLastRequestStatistics: 1 })).RequestCharge).toBe(1);
    expect(account.reports).toContainEqual({
      operation: 'insert',
      outcome: 'ok',
      charge: statistics.RequestCharge,
      durationMs: expect.any(Number),
    });
    expect(
      account.reports.some(
        ({ operation, outcome }) => operation === 'none' && outcome === 'invalidInput',
      ),
    ).toBe(true);
  });

  describe('a user with the role read', () => {
    const reader = () => account.connect({ auth: { username: 'reader', password: 'p' } });
    const writes = { $merge: { into: { db: 'other', coll: 'taken' } } };
    const refused = { code: 13, message: 'not authorized on d to execute command insert' };

    beforeAll(async () => {
      const admin = (await account.connect()).db('admin');
      await admin.command({ createUser: 'reader', pwd: 'p', roles: [{ role: 'read', db: 'd' }] });
      await admin.command({
        createUser: 'writer',
        pwd: 'p',
        roles: [{ role: 'readWrite', db: 'd' }],
      });
      await (await account.connect()).db('d').collection('c').insertOne({ a: 1 });
    });

    test('does not write with $out and $merge', async () => {
      const items = (await reader()).db('d').collection('c');
      const into = (stage: object) => items.aggregate([stage]).toArray();
      await expect(into({ $out: 'taken' })).rejects.toMatchObject({
        code: 13,
        message: 'not authorized on d to execute command aggregate',
      });
      await expect(into(writes)).rejects.toMatchObject({
        code: 13,
        message: 'not authorized on other to execute command aggregate',
      });
    });

    test('does not write into another database than the role names', async () => {
      const auth = { username: 'writer', password: 'p' };
      const items = (await account.connect({ auth })).db('d').collection('c');
      await items.aggregate([{ $out: 'copied' }]).toArray();
      await expect(items.aggregate([writes]).toArray()).rejects.toMatchObject({
        code: 13,
        message: 'not authorized on other to execute command aggregate',
      });
    });

    test('is shown with it, and may do no more after half a login', async () => {
      const client = await account.connect({
        auth: { username: 'reader', password: 'p' },
        maxPoolSize: 1,
      });
      const db = client.db('d');
      expect((await db.command({ connectionStatus: 1 })).authInfo).toEqual({
        authenticatedUsers: [{ user: 'reader', db: 'admin' }],
        authenticatedUserRoles: [{ role: 'read', db: 'd' }],
      });
      await expect(db.collection('c').insertOne({ a: 2 })).rejects.toMatchObject(refused);
      await client.db('admin').command({
        saslStart: 1,
        mechanism: 'SCRAM-SHA-256',
        payload: Buffer.from('n,,n=reader,r=abcdefgh'),
      });
      await expect(db.collection('c').insertOne({ a: 2 })).rejects.toMatchObject({
        code: 13,
        message: 'Command insert requires authentication',
      });
    });
  });
});

describe('without authentication asked for', () => {
  let account: Account;
  beforeAll(async () => {
    account = await startAccount({ isOpen: true });
  });
  afterAll(async () => {
    expect(account.failures).toEqual([]);
    await account.close();
  });

  test('who logs in and out may do as much as before', async () => {
    const uri = `mongodb://127.0.0.1:${account.port}/?replicaSet=globaldb`;
    const client = await new MongoClient(uri, { maxPoolSize: 1 }).connect();
    const db = client.db('d');
    const status = async () => (await db.command({ connectionStatus: 1 })).authInfo;
    expect(await status()).toEqual({ authenticatedUsers: [], authenticatedUserRoles: [] });
    await db.command({ createUser: 'u', pwd: 'p', roles: ['read'] });
    await db.command({ logout: 1 });
    expect(await db.collection('c').insertOne({ a: 1 })).toMatchObject({ acknowledged: true });
    await client.close();
    const auth = { username: 'u', password: 'p' };
    const known = await new MongoClient(uri, { auth, authSource: 'd' }).connect();
    expect(await known.db('d').collection('c').insertOne({ a: 2 })).toMatchObject({
      acknowledged: true,
    });
    await known.close();
  });

  test('a command with help says what it is', async () => {
    const uri = `mongodb://127.0.0.1:${account.port}/?replicaSet=globaldb`;
    const client = await new MongoClient(uri).connect();
    expect(await client.db('d').command({ find: 1, help: true })).toMatchObject({
      help: 'help for: find no help defined',
      ok: 1,
    });
    await client.close();
  });
});
