// Goal: what the .NET client sends as a batch or in bulk does the same as JSON does, and returns rows. Method: rows
// written and read from the public format below the SDK; bodies mutated by a seeded fuzzer, which is in the test's name.
import type { Container } from '@azure/cosmos';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Random, seededRandom } from '../../../../src/base/index.ts';
import { type Account, startAccount } from '../harness.ts';
import { type RawReply, sendRaw } from '../raw-request.ts';
import {
  type OperationFields,
  operationRow,
  type ResultFields,
  toBatch,
  toResults,
  toStream,
} from './hybrid-rows.ts';

const SEED = Number(process.env.MESOCOSM_SEED ?? 20261118);
const FUZZED = process.env.MESOCOSM_LONG === undefined ? 1500 : 50_000;

let account: Account;
let container: Container;

beforeAll(async () => {
  account = await startAccount();
  const { database } = await account.client().databases.create({ id: 'db' });
  const spec = { id: 'c', partitionKey: '/pk', throughput: 10_000 };
  ({ container } = await database.containers.create(spec));
});

afterAll(async () => {
  expect(account.failures).toEqual([]);
  await account.close();
});

/** Spelled as that client does. */
const ATOMIC = {
  'x-ms-documentdb-partitionkey': '["p"]',
  'x-ms-cosmos-batch-atomic': 'True',
  'x-ms-cosmos-batch-ordered': 'True',
};
const BULK = {
  'x-ms-documentdb-partitionkeyrangeid': '0',
  'x-ms-cosmos-batch-atomic': 'False',
  'x-ms-cosmos-batch-continue-on-error': 'True',
};

function post(body: Buffer | string, headers: Readonly<Record<string, string>>): Promise<RawReply> {
  return sendRaw(account, {
    method: 'POST',
    path: '/dbs/db/colls/c/docs',
    headers: { 'x-ms-cosmos-is-batch-request': 'True', ...headers },
    body,
  });
}

async function send(
  operations: readonly OperationFields[],
  headers: Readonly<Record<string, string>> = ATOMIC,
): Promise<RawReply & { readonly results: ResultFields[] }> {
  const reply = await post(toBatch(operations), headers);
  expect(reply.headers['content-type']).toBe('application/octet-stream');
  return { ...reply, results: toResults(reply.bytes) };
}

const json = (item: object) => JSON.stringify(item);
const create = (id: string, more = {}): OperationFields => ({
  operationType: 'Create',
  resourceBody: json({ id, pk: 'p', ...more }),
});
const codes = (results: readonly ResultFields[]) => results.map(({ statusCode }) => statusCode);
const bodyOf = ({ resourceBody }: ResultFields) =>
  resourceBody === undefined ? undefined : JSON.parse(resourceBody);

/** The text of an item as a point read sends it. */
async function stored(id: string, pk = 'p'): Promise<string> {
  const { status, text } = await sendRaw(account, {
    path: `/dbs/db/colls/c/docs/${encodeURIComponent(id)}`,
    headers: { 'x-ms-documentdb-partitionkey': json([pk]) },
  });
  expect(status).toBe(200);
  return text;
}

describe('transactional batch', () => {
  test('every kind of operation, in rows of exactly what a point read says', async () => {
    const { status, results, headers } = await send([
      create('grün', { n: 1 }),
      { operationType: 'Upsert', resourceBody: json({ id: 't2', pk: 'p' }) },
      {
        operationType: 'Patch',
        id: 'grün',
        resourceBody: json({ operations: [{ op: 'incr', path: '/n', value: 1 }] }),
      },
      { operationType: 'Read', id: 'grün', ifNoneMatch: '"another"' },
      {
        operationType: 'Replace',
        id: 't2',
        resourceBody: json({ id: 't2', pk: 'p', x: 'x'.repeat(20_000) }),
        ifMatch: '*',
      },
      { operationType: 'Delete', id: 't2' },
    ]);
    expect(status).toBe(200);
    expect(codes(results)).toEqual([201, 201, 200, 200, 200, 204]);
    const text = await stored('grün');
    const { _etag: eTag } = JSON.parse(text);
    const [created, upserted, patched, read, replaced, deleted] = results;
    const charge = expect.any(Number);
    expect(patched).toEqual({ statusCode: 200, eTag, resourceBody: text, requestCharge: charge });
    expect(read).toEqual(patched && { ...patched, requestCharge: charge });
    expect(deleted).toEqual({ statusCode: 204, requestCharge: charge });
    expect(bodyOf(created as ResultFields)).toMatchObject({ id: 'grün', pk: 'p', n: 1 });
    for (const result of [created, upserted, replaced] as ResultFields[])
      expect(bodyOf(result)._etag).toBe(result.eTag);
    expect(bodyOf(replaced as ResultFields).x).toHaveLength(20_000);
    const total = results.reduce((sum, { requestCharge = 0 }) => sum + requestCharge, 0);
    expect(Number(headers['x-ms-request-charge'])).toBeCloseTo(total);
    expect(headers['x-ms-session-token']).toBeDefined();
    expect(headers['x-ms-documentdb-partitionkeyrangeid']).toBe('0');
    expect((await container.item('t2', 'p').read()).statusCode).toBe(404);
  });

  test('one failure undoes all and tells why; the others are 424', async () => {
    await send([create('there')]);
    const { status, results } = await send([create('u1'), create('there'), create('u2')]);
    expect(status).toBe(207);
    const dependent = { statusCode: 424, requestCharge: 0 };
    expect(results).toEqual([
      dependent,
      { statusCode: 409, requestCharge: expect.any(Number), resourceBody: expect.any(String) },
      dependent,
    ]);
    expect(bodyOf(results[1] as ResultFields)).toEqual({
      code: 'Conflict',
      message: expect.stringContaining('already exists'),
    });
    expect((await container.item('u1', 'p').read()).statusCode).toBe(404);
    const mismatch = await send([create('u3'), create('u4', { pk: 'q' })]);
    expect(mismatch.results[1]).toMatchObject({ statusCode: 400, subStatusCode: 1001 });
  });

  test('etags', async () => {
    const { results } = await send([create('e')]);
    const eTag = results[0]?.eTag as string;
    const replace = (ifMatch: string): OperationFields => ({
      operationType: 'Replace',
      id: 'e',
      resourceBody: json({ id: 'e', pk: 'p', n: 1 }),
      ifMatch,
    });
    expect(codes((await send([create('e2'), replace('"no"')])).results)).toEqual([424, 412]);
    const now = (await send([replace(eTag)])).results[0];
    expect(now).toMatchObject({ statusCode: 200 });
    expect(codes((await send([replace(eTag)])).results)).toEqual([412]);
    const held = await send([{ operationType: 'Read', id: 'e', ifNoneMatch: now?.eTag as string }]);
    expect(held.status).toBe(207);
    expect(held.results).toEqual([
      { statusCode: 304, eTag: now?.eTag, requestCharge: expect.any(Number) },
    ]);
  });

  test('minimal responses have no bodies: by operation, or all but reads', async () => {
    const own = await send([
      { ...create('m1'), minimalReturnPreference: true },
      { ...create('m2'), minimalReturnPreference: false },
    ]);
    expect(own.results.map(({ resourceBody }) => resourceBody === undefined)).toEqual([
      true,
      false,
    ]);
    expect(own.results[0]?.eTag).toBe(JSON.parse(await stored('m1'))._etag);
    const all = await send([create('m3'), { operationType: 'Read', id: 'm3' }], {
      ...ATOMIC,
      prefer: 'return=minimal',
    });
    expect(all.results.map((result) => bodyOf(result)?.id)).toEqual([undefined, 'm3']);
  });

  test('the same bounds and refusals as in JSON, as JSON', async () => {
    const many = (count: number) => Array.from({ length: count }, (_, at) => create(`many${at}`));
    const refused: [Buffer, number, string][] = [
      [toBatch(many(101)), 400, 'Batch request has more operations than what is supported.'],
      [toBatch([]), 400, 'Batch request has no operations.'],
      [toBatch(many(2)).subarray(0, -1), 400, 'it ends in the middle'],
      [Buffer.from([0x81]), 400, 'it ends in the middle'],
      [
        toBatch([{ ...create('o'), partitionKey: '["q"]' }]),
        400,
        'a different partition key value',
      ],
      [toBatch([{ ...create('o'), partitionKey: '[no]' }]), 400, 'Partition key [no] is invalid'],
      [unknownOperation(), 400, 'operation 0 has no known operationType'],
      [toBatch([create('large', { x: 'x'.repeat(2_200_000) })]), 413, 'too large'],
    ];
    for (const [body, status, why] of refused) {
      const reply = await post(body, ATOMIC);
      expect([reply.status, reply.json.message]).toEqual([status, expect.stringContaining(why)]);
      expect(reply.headers['content-type']).toBe('application/json');
    }
    expect((await send(many(100))).status).toBe(200);
  });
});

function unknownOperation(): Buffer {
  const row = operationRow({ operationType: 'Read', id: 'x' });
  row.writeInt32LE(15, 6);
  return toStream([row]);
}

describe('bulk', () => {
  test('operations of many keys, each with its own result', async () => {
    const { status, results, headers } = await send(
      [
        { ...create('b1'), partitionKey: '["p"]' },
        { ...create('b1'), partitionKey: '["p"]' },
        { operationType: 'Read', id: 'b1', partitionKey: '["p"]' },
        { operationType: 'Read', id: 'b1', partitionKey: '["q"]' },
        { operationType: 'Upsert', resourceBody: json({ id: 'n', pk: 7 }), partitionKey: '[7.0]' },
        { operationType: 'Upsert', resourceBody: json({ id: 'none' }), partitionKey: '[{}]' },
        { operationType: 'Delete', id: 'b1', partitionKey: '["p"]', ifMatch: '"no"' },
        { operationType: 'Delete', id: 'b1', partitionKey: '["p"]' },
      ],
      BULK,
    );
    expect(status).toBe(207);
    expect(codes(results)).toEqual([201, 409, 200, 404, 201, 201, 412, 204]);
    expect(bodyOf(results[2] as ResultFields).id).toBe('b1');
    expect(results[3]).toMatchObject({ resourceBody: expect.stringContaining('"NotFound"') });
    expect(headers['x-ms-documentdb-partitionkeyrangeid']).toBe('0');
    expect((await container.item('none', undefined).read()).statusCode).toBe(200);
  });

  test('a body that is no JSON is the failure of its own operation', async () => {
    const operation = (resourceBody: string | Buffer, id: string): OperationFields => ({
      operationType: 'Create',
      partitionKey: '["p"]',
      id,
      resourceBody,
    });
    const { results } = await send(
      [
        operation('{"id":"f1",', 'f1'),
        operation(Buffer.from([0x80, 0xea, 0x00]), 'f2'),
        operation('[1]', 'f3'),
        operation('', 'f4'),
        { operationType: 'Create', partitionKey: '["p"]' },
        { operationType: 'Patch', id: 'f5', partitionKey: '["p"]', resourceBody: '{' },
        { operationType: 'Read', id: 'f6', partitionKey: '["p"]', resourceBody: '{' },
        operation(
          json({ id: 'f7', pk: 'p', deep: JSON.parse('['.repeat(200) + ']'.repeat(200)) }),
          '',
        ),
        operation(json({ id: 'f8', pk: 'p' }), ''),
      ],
      BULK,
    );
    expect(codes(results)).toEqual([400, 400, 400, 400, 400, 400, 404, 400, 201]);
    expect(bodyOf(results[0] as ResultFields).message).toContain('not valid JSON');
    expect(bodyOf(results[1] as ResultFields).message).toContain('binary JSON');
  });

  test('a range that is gone is 410, and without continue-on-error nothing follows a failure', async () => {
    const operations = [{ ...create('g'), partitionKey: '["p"]' }];
    const gone = await post(toBatch(operations), {
      ...BULK,
      'x-ms-documentdb-partitionkeyrangeid': '77',
    });
    expect([gone.status, gone.headers['x-ms-substatus'], gone.json.code]).toEqual([
      410,
      '1002',
      'Gone',
    ]);
    const twice = [...operations, ...operations, { ...create('h'), partitionKey: '["p"]' }];
    const stopped = await send(twice, { ...BULK, 'x-ms-cosmos-batch-continue-on-error': 'False' });
    expect(codes(stopped.results)).toEqual([201, 409, 424]);
  });

  test('a result that does not fit in the response has no item, and refuses a transaction', async () => {
    await container.items.create({ id: 'fat', pk: 'p', x: 'x'.repeat(1_900_000) });
    const read: OperationFields = { operationType: 'Read', id: 'fat', partitionKey: '["p"]' };
    const { results } = await send([read, read, read], BULK);
    expect(codes(results)).toEqual([200, 200, 413]);
    expect(results[2]).toMatchObject({ subStatusCode: 3402 });
    expect(results[2]).not.toHaveProperty('resourceBody');
    const atomic = await send([create('uncommitted'), read, read, read]);
    expect([atomic.status, ...codes(atomic.results)]).toEqual([207, 424, 424, 424, 413]);
    expect(atomic.results[3]).toMatchObject({ subStatusCode: 3402 });
    expect(bodyOf(atomic.results[3] as ResultFields)).toEqual({
      code: 'RequestEntityTooLarge',
      message: 'Response size is too large',
    });
    expect((await container.item('uncommitted', 'p').read()).statusCode).toBe(404);
  });
});

function randomText(random: Random): string {
  const letters = ['a', '"', '\\', 'ü', '日', '🙂', '\n', ' '];
  const length = [1, 60, 126, 127, 128, 129, 16_383, 16_384][random.below(8)] as number;
  return Array.from({ length }, () => letters[random.below(letters.length)]).join('');
}

test(`items come back as they were sent (seed ${SEED})`, async () => {
  const random = seededRandom(SEED);
  for (let round = 0; round < 20; round++) {
    const items = Array.from({ length: 1 + random.below(8) }, (_, at) => ({
      id: `r${round}-${at}`,
      pk: 'p',
      text: randomText(random),
      list: [random.below(1000), null, true, { at }],
    }));
    const { results } = await send(
      items.map((item) => ({ operationType: 'Upsert', resourceBody: json(item) })),
    );
    expect(results.map(bodyOf)).toMatchObject(items);
    const reads = items.map(({ id }): OperationFields => ({ operationType: 'Read', id }));
    const again = await send(reads);
    expect(again.results.map(({ resourceBody, eTag }) => [resourceBody, eTag])).toEqual(
      results.map(({ resourceBody, eTag }) => [resourceBody, eTag]),
    );
    expect(again.results[0]?.resourceBody).toBe(await stored(items[0]?.id as string));
  }
});

const PATCH = json({ operations: [{ op: 'set', path: '/n', value: 1 }] });

/** Bytes changed, lost, doubled or inserted. */
function bend(random: Random, bytes: Buffer): Buffer {
  let mutated = Buffer.from(bytes);
  for (let bends = 1 + random.below(3); bends > 0; bends--) {
    const at = random.below(mutated.length + 1);
    switch (random.below(5)) {
      case 0:
        mutated = mutated.subarray(0, at);
        break;
      case 1:
        mutated = Buffer.concat([
          mutated.subarray(0, at),
          mutated.subarray(at + 1 + random.below(4)),
        ]);
        break;
      case 2:
        mutated = Buffer.concat([mutated.subarray(0, at), mutated.subarray(random.below(at + 1))]);
        break;
      default:
        mutated = Buffer.from(mutated);
        if (at < mutated.length) mutated[at] = random.below(2) === 0 ? random.below(256) : 0xff;
    }
  }
  return mutated;
}

test(`malformed bodies are refused or return rows, never a failure (seed ${SEED})`, async () => {
  const random = seededRandom(SEED);
  const statuses = new Map<number, number>();
  const rows = [
    operationRow({ ...create('z'), partitionKey: '["p"]', indexingDirective: 'Exclude' }),
    operationRow({ operationType: 'Read', id: 'z', ifNoneMatch: '"e"' }),
    operationRow({ operationType: 'Patch', id: 'z', resourceBody: PATCH }),
    operationRow({ operationType: 'Delete', id: 'z', ifMatch: '*', minimalReturnPreference: true }),
  ];
  for (let count = 0; count < FUZZED; count++) {
    // Half of them with checksums that are right, so that the mutation is found later.
    const body =
      random.below(2) === 0
        ? bend(random, toStream(rows))
        : toStream(rows.map((row) => (random.below(2) === 0 ? bend(random, row) : row)));
    const reply = await post(body, random.below(2) === 0 ? ATOMIC : BULK);
    statuses.set(reply.status, (statuses.get(reply.status) ?? 0) + 1);
    if (reply.status === 400) expect(reply.json.code).toBe('BadRequest');
    else expect(toResults(reply.bytes)).not.toEqual([]);
  }
  expect([...statuses.keys()].sort()).toEqual([200, 207, 400]);
});
