// Goal: what the service's pages show works here: the graph of their walk-through, its answers, addresses with partition
// keys, status attributes and the execution profile. Method: a client that knows texts with variables and GraphSON 2 only.
import type { Client, ResultSet } from 'gremlin';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Account, MIMES, startAccount } from './harness.ts';

let account: Account;
let client: Client;

const PEOPLE = [
  { id: 'thomas', firstName: 'Thomas', age: 44 },
  { id: 'mary', firstName: 'Mary', lastName: 'Andersen', age: 39 },
  { id: 'ben', firstName: 'Ben', lastName: 'Miller' },
  { id: 'robin', firstName: 'Robin', lastName: 'Wakefield' },
];
const KNOWS = [
  ['thomas', 'mary'],
  ['thomas', 'ben'],
  ['ben', 'robin'],
];
/** Who uses which device, and what runs on it. */
const DEVICES = [
  ['mary', 'laptop', 'windows'],
  ['ben', 'phone', 'android'],
  ['robin', 'tablet', 'windows'],
] as const;

function submit(script: string, bindings: object = {}): Promise<ResultSet> {
  return client.submit(script, bindings);
}

async function all(script: string, bindings: object = {}): Promise<unknown[]> {
  return (await submit(script, bindings)).toArray();
}

beforeAll(async () => {
  account = await startAccount();
  client = account.client({ mimeType: MIMES.graphson2 });
  for (const { id, ...properties } of PEOPLE) {
    const names = Object.keys(properties);
    const sets = names.map((name) => `.property('${name}', ${name})`).join('');
    await all(`g.addV('person').property('id', id).property('pk', 'pk')${sets}`, {
      id,
      ...properties,
    });
  }
  for (const [source, target] of KNOWS)
    await all("g.V(source).addE('knows').to(g.V(target))", { source, target });
  for (const [owner, device, system] of DEVICES) {
    const add =
      "coalesce(unfold(), addV(l).property('id', n).property('name', n).property('pk','pk'))";
    await all(`g.V(n).fold().${add}`, { l: 'device', n: device });
    await all(`g.V(n).fold().${add}`, { l: 'os', n: system });
    await all("g.V(a).addE('uses').to(g.V(b))", { a: owner, b: device });
    await all("g.V(a).addE('runs').to(g.V(b))", { a: device, b: system });
  }
});

afterAll(async () => {
  expect(account.failures).toEqual([]);
  await account.close();
});

describe('the walk-through', () => {
  test.each([
    ["g.V().hasLabel('person').count()", [4]],
    ["g.V().hasLabel('person').has('age', gt(40)).values('firstName')", ['Thomas']],
    ["g.V().hasLabel('person').has('age', lt(40)).values('firstName')", ['Mary']],
    ["g.V().hasLabel('person').values('firstName').order()", ['Ben', 'Mary', 'Robin', 'Thomas']],
    [
      "g.V().hasLabel('person').order().by('firstName', decr).values('firstName')",
      ['Thomas', 'Robin', 'Mary', 'Ben'],
    ],
    ["g.V('thomas').out('knows').hasLabel('person').id().order()", ['ben', 'mary']],
    [
      "g.V('thomas').out('knows').hasLabel('person').out('knows').hasLabel('person').id()",
      ['robin'],
    ],
    [
      "g.V('thomas').repeat(out('knows')).until(has('id', 'robin')).path().by('firstName')",
      [{ labels: [[], [], []], objects: ['Thomas', 'Ben', 'Robin'] }],
    ],
    [
      "g.V('thomas').out('knows').out('uses').out('runs').group().by('name').by(count())",
      [{ windows: 1, android: 1 }],
    ],
    ["g.V('thomas').property('age', 45).values('age')", [45]],
    ["g.V('thomas').outE('knows').where(inV().has('id', 'mary')).drop()", []],
    ["g.E().hasLabel('knows').count()", [2]],
    ["g.V('robin').drop()", []],
    ["g.V().hasLabel('person').count()", [3]],
    ["g.E().hasLabel('knows').count()", [1]],
  ])('%s', async (script, expected) => {
    const found = await all(script);
    expect(found).toEqual(expected);
  });

  test('a vertex has its type, and lists of properties with ids', async () => {
    expect(await all("g.V('mary')")).toEqual([
      {
        id: 'mary',
        label: 'person',
        type: 'vertex',
        properties: {
          pk: [{ id: 'mary|pk', value: 'pk' }],
          firstName: [{ id: expect.stringMatching(/^[0-9a-f-]{36}$/), value: 'Mary' }],
          lastName: [{ id: expect.any(String), value: 'Andersen' }],
          age: [{ id: expect.any(String), value: 39 }],
        },
      },
    ]);
  });

  test('an edge has its type, and the ids and labels of both ends', async () => {
    expect(await all("g.V('mary').outE('uses')")).toEqual([
      {
        id: expect.stringMatching(/^[0-9a-f-]{36}$/),
        label: 'uses',
        type: 'edge',
        inVLabel: 'device',
        outVLabel: 'person',
        inV: 'laptop',
        outV: 'mary',
      },
    ]);
  });
});

describe('partition keys in traversals', () => {
  test.each([
    "g.V('mary').has('pk', 'pk').id()",
    "g.V(['pk', 'mary']).id()",
    "g.V(['pk', 'mary'], ['pk', 'nobody']).id()",
    "g.V('mary', 'nobody').has('pk', within('pk', 'other')).id()",
    "g.withStrategies(PartitionStrategy.build().partitionKey('pk').readPartitions('pk').create()).V('mary').id()",
  ])('%s', async (script) => {
    expect(await all(script)).toEqual(['mary']);
  });
});

describe('status attributes', () => {
  function attributes({ attributes: found }: ResultSet): Record<string, unknown> {
    return found instanceof Map
      ? Object.fromEntries(found)
      : (found as unknown as Record<string, unknown>);
  }

  test('a response has its charge, times and activity', async () => {
    const found = attributes(await submit('g.V().count()'));
    expect(found).toMatchObject({
      'x-ms-status-code': 200,
      'x-ms-request-charge': expect.any(Number),
      'x-ms-total-request-charge': expect.any(Number),
      'x-ms-server-time-ms': expect.any(Number),
      'x-ms-total-server-time-ms': expect.any(Number),
      'x-ms-activity-id': expect.stringMatching(/^[0-9a-f-]{36}$/i),
    });
    expect(Number(found['x-ms-total-request-charge'])).toBeGreaterThan(0);
  });

  test.each([
    ["g.addV('person').property('id','mary').property('pk','pk')", 500, 409],
    ["g.addV('person').property('id','x')", 500, 1000],
    ['g.V(', 597, 1004],
    ['g.V().nothing()', 597, 1004],
  ])('%s', async (script, statusCode, status) => {
    await expect(submit(script)).rejects.toMatchObject({
      statusCode,
      statusAttributes: { 'x-ms-status-code': status },
    });
  });
});

test('the execution profile names operators and what they read', async () => {
  const script = "g.V('thomas').out('knows').executionProfile()";
  const [profile] = await all(script);
  const step = (name: string) => ({
    name,
    time: expect.any(Number),
    annotations: { percentTime: expect.any(Number) },
    counts: { resultCount: 1 },
    storeOps: [
      {
        fanoutFactor: 1,
        count: 1,
        size: expect.any(Number),
        requestCharge: expect.any(Number),
        time: expect.any(Number),
      },
    ],
  });
  expect(profile).toEqual({
    gremlin: script,
    totalTime: expect.any(Number),
    metrics: [step('GetVertices'), step('GetNeighborVertices')],
  });
});

describe('system properties', () => {
  const STRATEGY =
    "g.withStrategies(ProjectionStrategy.build().IncludeSystemProperties('_ts','_etag','inVPartition').create())";

  test('system properties were not shown where they are asked for', async () => {
    const [shown] = await all(`${STRATEGY}.V('ben').valueMap('_ts','_etag')`);
    expect(shown).toEqual({ _ts: [expect.any(Number)], _etag: [expect.any(String)] });
    expect(await all("g.V('ben').valueMap('_ts','_etag')")).toEqual([{}]);
    const places = `${STRATEGY}.V('ben').outE('uses').values('inVPartition')`;
    expect(await all(places)).toEqual(['pk']);
    // They are not written back.
    await all(`${STRATEGY}.V('ben').property('city','x')`);
    const { resource } = await account.container.item('ben', 'pk').read();
    expect(typeof resource._ts).toBe('number');
  });

  test('an etag in a test decides whether a vertex is changed', async () => {
    const [etag] = await all(`${STRATEGY}.V('ben').values('_etag')`);
    const update = "g.V('ben').has('_etag', etag).property('age', 50).count()";
    expect(await all(update, { etag })).toEqual([1]);
    expect(await all(update, { etag })).toEqual([0]);
  });
});
