// Goal: protocol 5 with its segments and ids of metadata; bad bytes at any phase. Method: a raw client of the protocol.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { BodyWriter } from '../../../src/api/cassandra/wire/body-writer.ts';
import { PLAIN_SEGMENTS } from '../../../src/api/cassandra/wire/segment.ts';
import { ENGINES, startServer, type TestServer } from './harness.ts';
import { envelopeOf, RawClient, type RawResponse } from './raw-client.ts';

describe.each(ENGINES)('engine %s', (engine) => {
  let server: TestServer;
  beforeAll(async () => {
    server = await startServer({ engine });
    const client = await server.connect();
    await client.execute(
      "CREATE KEYSPACE k WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}",
    );
    await client.execute('CREATE TABLE k.t (a int PRIMARY KEY, v text)');
  });
  afterAll(async () => {
    expect(server.failures).toEqual([]);
    await server.close();
  });

  const ERROR = 0;
  const RESULT = 8;

  function errorOf({ opcode, body }: RawResponse): readonly [number, string] {
    expect(opcode).toBe(ERROR);
    return [body.int(), body.string()];
  }

  /** The cells of a result of rows, with its metadata. */
  function rowsOf({ opcode, body }: RawResponse) {
    expect([opcode, body.int()]).toEqual([RESULT, 2]);
    const flags = body.int();
    const columns = body.int();
    const state = (flags & 2) !== 0 ? body.bytes() : undefined;
    const metadataId = (flags & 8) !== 0 ? body.shortBytes() : undefined;
    const names: string[] = [];
    if ((flags & 4) === 0) {
      body.string();
      body.string();
      for (let at = 0; at < columns; at++) {
        names.push(body.string());
        body.short();
      }
    }
    const rows = Array.from({ length: body.int() }, () =>
      Array.from({ length: columns }, () => body.bytes()),
    );
    return {
      flags,
      names,
      state,
      metadataId,
      rows: rows.map((row) => row.map((cell) => cell && Buffer.from(cell).toString('latin1'))),
    };
  }

  test('a statement and its rows, in one segment and in many', async () => {
    const client = await RawClient.login(server.port);
    const long = 'x'.repeat(300_000);
    const inserted = await client.query('INSERT INTO k.t (a, v) VALUES (1, ?)', [
      Buffer.from(long),
    ]);
    expect([inserted.version, inserted.opcode, inserted.body.int()]).toEqual([5, RESULT, 1]);
    expect(rowsOf(await client.query('SELECT v FROM k.t WHERE a = 1'))).toEqual({
      flags: 1,
      names: ['v'],
      state: undefined,
      metadataId: undefined,
      rows: [[long]],
    });
    client.close();
  });

  test('several envelopes in one segment are answered by their streams', async () => {
    const client = await RawClient.login(server.port);
    const options = [21, 22, 23].map((stream) => envelopeOf(5, Buffer.alloc(0), stream));
    client.sendBytes(PLAIN_SEGMENTS.write(Buffer.concat(options)));
    const streams = [await client.next(), await client.next(), await client.next()].map(
      ({ stream }) => stream,
    );
    expect(streams).toEqual([21, 22, 23]);
    client.close();
  });

  test('the id of the metadata changes with the table', async () => {
    const client = await RawClient.login(server.port);
    await client.query('CREATE TABLE k.m (a int PRIMARY KEY, v text)');
    await client.query("INSERT INTO k.m (a, v) VALUES (1, 'x')");
    const text = Buffer.from('SELECT * FROM k.m WHERE a = 1');
    client.send(9, new BodyWriter().int(text.length).raw(text).int(0).finish());
    const prepared = await client.next();
    expect([prepared.opcode, prepared.body.int()]).toEqual([RESULT, 4]);
    const [id, metadataId] = [prepared.body.shortBytes(), prepared.body.shortBytes()];
    const execute = (known: Uint8Array) => {
      // Consistency ONE, without metadata.
      client.send(10, new BodyWriter().shortBytes(id).shortBytes(known).short(1).int(2).finish());
      return client.next();
    };
    expect(rowsOf(await execute(metadataId))).toMatchObject({
      flags: 4,
      names: [],
      rows: [['\0\0\0\x01', 'x']],
    });
    await client.query('ALTER TABLE k.m ADD w int');
    const changed = rowsOf(await execute(metadataId));
    expect(changed).toMatchObject({
      flags: 9,
      names: ['a', 'v', 'w'],
      rows: [['\0\0\0\x01', 'x', null]],
    });
    expect(rowsOf(await execute(changed.metadataId as Uint8Array))).toMatchObject({ flags: 4 });
    client.send(
      10,
      new BodyWriter()
        .shortBytes(Buffer.from('none'))
        .shortBytes(metadataId)
        .short(1)
        .int(0)
        .finish(),
    );
    expect(errorOf(await client.next())[0]).toBe(0x2500);
    client.close();
  });

  test.each([
    [
      'a version of the future',
      envelopeOf(1, Buffer.alloc(0), 3, 66),
      'Invalid or unsupported protocol version (66); supported versions are (3/v3, 4/v4, 5/v5)',
    ],
    [
      'version 2',
      envelopeOf(1, Buffer.alloc(0), 3, 2),
      'Invalid or unsupported protocol version (2); supported versions are (3/v3, 4/v4, 5/v5)',
    ],
    [
      'a length of gigabytes',
      Buffer.from('040000030100ffffffff'.replace('00ffffffff', '7fffffff'), 'hex'),
      /A frame has at most 33554441 bytes/,
    ],
    ['a negative length', Buffer.from('0400000301ffffffff', 'hex'), 'A frame cannot have 8 bytes.'],
    [
      'compression that was not negotiated',
      Buffer.from('040100030700000000', 'hex'),
      'Compression was not negotiated',
    ],
  ])('%s: the error, and the end', async (_, bytes, message) => {
    const client = new RawClient(server.port);
    client.sendBytes(bytes);
    const response = await client.next();
    expect(errorOf(response)).toEqual([
      0x000a,
      typeof message === 'string' ? message : expect.stringMatching(message),
    ]);
    await client.closed();
  });

  test.each([
    [
      'a request before STARTUP',
      7,
      new BodyWriter().int(1).finish(),
      'Unexpected message: STARTUP must come first',
    ],
    [
      'STARTUP without a version of CQL',
      1,
      new BodyWriter().short(0).finish(),
      'Missing value CQL_VERSION in STARTUP message',
    ],
    [
      'an unknown compression',
      1,
      new BodyWriter()
        .short(2)
        .string('CQL_VERSION')
        .string('3')
        .string('COMPRESSION')
        .string('zip')
        .finish(),
      'Unknown compression algorithm: zip',
    ],
    ['an unknown opcode', 99, Buffer.alloc(0), 'Unknown opcode 99'],
  ])('%s is refused', async (_, opcode, body, message) => {
    const client = new RawClient(server.port);
    client.send(opcode, body);
    expect(errorOf(await client.next())).toEqual([0x000a, message]);
    client.close();
  });

  test('a damaged segment ends the connection', async () => {
    const client = await RawClient.login(server.port);
    const segment = PLAIN_SEGMENTS.write(envelopeOf(5, Buffer.alloc(0)));
    segment[segment.length - 1] = (segment[segment.length - 1] as number) ^ 1;
    client.sendBytes(segment);
    expect(errorOf(await client.next())).toEqual([
      0x000a,
      'Protocol error: the checksum of a segment does not match',
    ]);
    await client.closed();
  });

  test('a body that ends too early is refused, the connection goes on', async () => {
    const client = await RawClient.login(server.port);
    client.send(7, new BodyWriter().int(1000).finish());
    expect(errorOf(await client.next())).toEqual([
      0x000a,
      'The body of the request ends too early',
    ]);
    expect(rowsOf(await client.query('SELECT a FROM k.t WHERE a = 77')).rows).toEqual([]);
    client.close();
  });
});
