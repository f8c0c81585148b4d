// Goal: a graph gives the same answers in one partition and in eight; a vertex with very many edges is read in pages and
// dropped whole. Method: a random graph from a seed, loaded as the documents of the service; every answer is compared
// with a model. `MESOCOSM_LONG=1` has 100,000 vertices and 1,000,000 edges.
import type { Client } from 'gremlin';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { seededRandom } from '../../../src/base/index.ts';
import type { ValueMap } from '../../../src/value/index.ts';
import { type Account, MIMES, recordOf, startAccount } from './harness.ts';

const IS_LONG = process.env.MESOCOSM_LONG !== undefined;
const VERTICES = IS_LONG ? 100_000 : 400;
const EDGES = IS_LONG ? 1_000_000 : 4000;
/** Edges of the vertex `hub`, half of them in and half of them out. */
const SPOKES = IS_LONG ? 100_000 : 2000;
const PARTITIONS = 8;
const SEED = Number(process.env.MESOCOSM_SEED ?? 808);
const LABELS = ['knows', 'likes', 'owns'];
const TIMEOUT_MS = IS_LONG ? 7_200_000 : 120_000;
const AT_ONCE = 2000;

interface Link {
  readonly label: string;
  readonly from: number;
  readonly to: number;
}

let account: Account;
let client: Client;
const links: Link[] = [];

function idOf(number: number): string {
  return `v${number}`;
}

/** Vertices share partition keys, so that some neighbours lie together. */
function keyOf(number: number): string {
  return `p${number % 1000}`;
}

function vertexOf(number: number): ValueMap {
  return {
    id: idOf(number),
    label: number % 4 === 0 ? 'company' : 'person',
    pk: keyOf(number),
    n: [{ id: `${number}`, _value: number }],
  };
}

function edgeOf(id: string, label: string, from: End, to: End): ValueMap {
  return {
    id,
    label,
    pk: from.pk,
    _isEdge: true,
    _vertexId: from.id,
    _vertexLabel: 'person',
    _sink: to.id,
    _sinkLabel: 'person',
    _sinkPartition: to.pk,
  };
}

interface End {
  readonly id: string;
  readonly pk: string;
}

function endOf(number: number): End {
  return { id: idOf(number), pk: keyOf(number) };
}

function* documents(): Generator<ValueMap> {
  for (let number = 0; number < VERTICES; number++) yield vertexOf(number);
  for (const [at, { label, from, to }] of links.entries())
    yield edgeOf(`e${at}`, label, endOf(from), endOf(to));
  const hub = { id: 'hub', pk: 'hub' };
  yield { id: 'hub', label: 'hub', pk: 'hub' };
  for (let at = 0; at < SPOKES; at++) {
    const spoke = endOf(at % VERTICES);
    yield at % 2 === 0 ? edgeOf(`h${at}`, 'hub', hub, spoke) : edgeOf(`h${at}`, 'hub', spoke, hub);
  }
}

async function load(): Promise<void> {
  const container = recordOf(account.service);
  let writes: Promise<unknown>[] = [];
  for (const value of documents()) {
    const body = Buffer.from(JSON.stringify(value));
    const address = { partitionKey: [value.pk], rowKey: [value.id] };
    writes.push(
      Promise.resolve(
        account.service.items.write(container, { ...address, kind: 'create', body, ttlSec: 0 }),
      ),
    );
    if (writes.length < AT_ONCE) continue;
    await Promise.all(writes);
    writes = [];
  }
  await Promise.all(writes);
}

/** Splits the partition with the largest part of the hash space until there are so many. */
async function splitTo(count: number): Promise<void> {
  const { resizer } = account.service;
  while (recordOf(account.service).partitions.length < count) {
    const record = recordOf(account.service);
    await resizer.split(record, resizer.widest(record), 'anywhere');
  }
}

beforeAll(async () => {
  const random = seededRandom(SEED);
  for (let at = 0; at < EDGES; at++)
    links.push({
      label: LABELS[random.below(LABELS.length)] as string,
      from: random.below(VERTICES),
      to: random.below(VERTICES),
    });
  account = await startAccount({ engine: IS_LONG ? 'sqlite' : 'memory' });
  client = account.client({ mimeType: MIMES.graphson2 });
  const startedMs = performance.now();
  await load();
  note(`loaded ${VERTICES} vertices and ${EDGES + SPOKES} edges`, startedMs);
}, TIMEOUT_MS);

afterAll(async () => {
  expect(account.failures).toEqual([]);
  await account.close();
}, TIMEOUT_MS);

function note(what: string, startedMs: number): void {
  if (IS_LONG) console.log(`${what}: ${Math.round(performance.now() - startedMs)} ms`);
}

async function all(script: string): Promise<unknown[]> {
  const options = { evaluationTimeout: 600_000, batchSize: 1000 };
  return (await client.submit(script, {}, options)).toArray();
}

function outOf(number: number, label?: string): number[] {
  return links.flatMap((link) =>
    link.from === number && (label === undefined || link.label === label) ? [link.to] : [],
  );
}

function inOf(number: number): number[] {
  return links.flatMap((link) => (link.to === number ? [link.from] : []));
}

function sorted(values: readonly unknown[]): unknown[] {
  return values.map(String).toSorted();
}

/** Scripts with what the model says about them. */
function questions(): readonly (readonly [string, readonly unknown[]])[] {
  const [a, b] = [links[0]?.from as number, links[1]?.to as number];
  const knows = links.filter(({ label }) => label === 'knows').length;
  const direct = outOf(a);
  const degrees = new Map<number, number>();
  for (const { from } of links) degrees.set(from, (degrees.get(from) ?? 0) + 1);
  const high = VERTICES - 5;
  return [
    ['g.V().count()', [VERTICES + 1]],
    ['g.E().count()', [EDGES + SPOKES]],
    ["g.V().hasLabel('company').count()", [Math.ceil(VERTICES / 4)]],
    ["g.E().hasLabel('knows').count()", [knows]],
    [`g.V(['${keyOf(a)}','${idOf(a)}']).values('n')`, [a]],
    [`g.V('${idOf(a)}').out('knows','likes','owns').id()`, direct.map(idOf)],
    [`g.V('${idOf(a)}').out('knows').values('n')`, outOf(a, 'knows')],
    [`g.V('${idOf(b)}').in('knows','likes','owns').id()`, inOf(b).map(idOf)],
    [
      `g.V('${idOf(a)}').out('knows','likes','owns').out('knows').id()`,
      direct.flatMap((next) => outOf(next, 'knows')).map(idOf),
    ],
    [
      `g.V('${idOf(b)}').in('knows','likes','owns').in('knows','likes','owns').dedup().count()`,
      [new Set(inOf(b).flatMap(inOf)).size],
    ],
    [`g.V().has('n',gte(${high})).id()`, [0, 1, 2, 3, 4].map((more) => idOf(high + more))],
    [
      `g.V('${idOf(a)}').repeat(out('knows','likes','owns').simplePath()).times(2).path().count()`,
      [
        direct
          .filter((next) => next !== a)
          .flatMap((next) => outOf(next).filter((last) => last !== a && last !== next)).length,
      ],
    ],
  ];
}

async function ask(partitions: number): Promise<void> {
  for (const [script, expected] of questions()) {
    const startedMs = performance.now();
    const found = await all(script);
    note(`${partitions} partitions: ${script}`, startedMs);
    expect(sorted(found), script).toEqual(sorted(expected));
  }
}

interface Profile {
  readonly metrics: readonly { readonly storeOps?: readonly { readonly count: number }[] }[];
}

/** Documents that a traversal has read. */
async function documentsRead(script: string): Promise<number> {
  const [profile] = (await all(`${script}.executionProfile()`)) as [Profile];
  return profile.metrics
    .flatMap(({ storeOps = [] }) => storeOps)
    .reduce((sum, { count }) => sum + count, 0);
}

/** The index counts vertices and edges: no document is read. */
async function checkCounts(): Promise<void> {
  for (const script of [
    'g.V().count()',
    'g.E().count()',
    "g.V().hasLabel('person').count()",
    "g.E().hasLabel('knows').count()",
  ])
    expect(await documentsRead(script), script).toBe(0);
}

async function pages(script: string): Promise<number[]> {
  const sizes: number[] = [];
  const stream = client.stream(script, {}, { batchSize: 1000, evaluationTimeout: 600_000 });
  for await (const page of stream) sizes.push(page.toArray().length);
  return sizes;
}

test(
  `one partition and ${PARTITIONS} give the same answers (seed ${SEED})`,
  async () => {
    await ask(1);
    await checkCounts();
    const startedMs = performance.now();
    await splitTo(PARTITIONS);
    note(`split into ${PARTITIONS}`, startedMs);
    await ask(PARTITIONS);
    await checkCounts();
  },
  TIMEOUT_MS,
);

test(
  'a vertex with very many edges is read page by page, and dropped',
  async () => {
    let startedMs = performance.now();
    const sizes = await pages("g.V(['hub','hub']).bothE().id()");
    note(`read ${SPOKES} edges in ${sizes.length} pages`, startedMs);
    expect(sizes).toEqual(Array.from({ length: SPOKES / 1000 }, () => 1000));
    startedMs = performance.now();
    expect(await all("g.V(['hub','hub']).drop()")).toEqual([]);
    note(`dropped a vertex with ${SPOKES} edges`, startedMs);
    expect(await all('g.E().count()')).toEqual([EDGES]);
    expect(await all('g.V().count()')).toEqual([VERTICES]);
    expect(await all("g.E().hasLabel('hub').count()")).toEqual([0]);
  },
  TIMEOUT_MS,
);
