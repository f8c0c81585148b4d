/**
 * The change feed, vector and full text searches over HTTP, server and client in this one process. `node bench/search.ts
 * [--items N]`; wall time depends on other work on the machine, CPU time of the process less so: both are reported.
 */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { parseArgs } from 'node:util';
import { createNosqlHandler, nosqlHome } from '../src/api/nosql/index.ts';
import { seededRandom, systemClock, WELL_KNOWN_KEY } from '../src/base/index.ts';
import { authorization } from '../src/cli/client.ts';
import { memoryEngine } from '../src/engine/memory/index.ts';
import { overNodeHttp } from '../src/http/index.ts';
import {
  DEFAULT_SETTINGS,
  memoryAccessStore,
  openAccessControl,
  openService,
} from '../src/service/index.ts';

const { values: flags } = parseArgs({ options: { items: { type: 'string', default: '50000' } } });
const ITEMS = Number(flags.items);
const DIMENSIONS = 256;
const CLUSTERS = 500;
const WORDS = 5000;
const WORDS_PER_TEXT = 40;
const ROUNDS = 21;
const AT_ONCE = 500;
const TOP = 10;
const COLLECTION = ['dbs', 'd', 'colls', 'c'];

const random = seededRandom(1);
const unit = () => random.below(1_000_000) / 1_000_000;
const engine = memoryEngine();
const service = await openService({
  engine,
  clock: systemClock,
  random,
  settings: { ...DEFAULT_SETTINGS, throughputMode: 'report' },
  homes: [nosqlHome],
});
const keys = { primary: WELL_KNOWN_KEY };
const access = openAccessControl({ keys }, memoryAccessStore(), systemClock);
const onFailure = ({ error }: { error: unknown }) => console.error(error);
const server = createServer(
  overNodeHttp(createNosqlHandler({ service, access, version: 'bench', onFailure })),
);
await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
const { port } = server.address() as AddressInfo;

interface SearchResponse {
  readonly status: number;
  readonly headers: Headers;
  readonly json: Record<string, never>;
}

async function send(
  verb: string,
  path: readonly string[],
  more: Record<string, string> = {},
  body?: object,
): Promise<SearchResponse> {
  const date = new Date().toUTCString();
  const response = await fetch(`http://127.0.0.1:${port}/${path.join('/')}`, {
    method: verb,
    headers: {
      authorization: authorization({ verb, path, date, key: WELL_KNOWN_KEY }),
      'x-ms-date': date,
      'x-ms-version': '2020-07-15',
      ...more,
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  if (response.status >= 400) throw new Error(`${verb} ${path.join('/')}: ${text}`);
  return {
    status: response.status,
    headers: response.headers,
    json: text === '' ? {} : JSON.parse(text),
  };
}

const QUERY = {
  'x-ms-documentdb-isquery': 'True',
  'content-type': 'application/query+json',
  'x-ms-documentdb-partitionkeyrangeid': '0',
};

async function query(text: string): Promise<readonly { readonly id: string }[]> {
  const { json } = await send('POST', [...COLLECTION, 'docs'], QUERY, { query: text });
  return json.Documents as unknown as { id: string }[];
}

/** Medians of wall and CPU time of one operation, in milliseconds. */
async function measure(name: string, run: (round: number) => Promise<unknown>): Promise<void> {
  const walls: number[] = [];
  const cpus: number[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    const cpu = process.cpuUsage();
    const startMs = performance.now();
    await run(round);
    walls.push(performance.now() - startMs);
    const { user, system } = process.cpuUsage(cpu);
    cpus.push((user + system) / 1000);
  }
  const median = (values: number[]) =>
    (values.sort((a, b) => a - b)[ROUNDS >> 1] as number).toFixed(1);
  console.log(`| ${name} | ${median(walls)} | ${median(cpus)} |`);
}

const centers = Array.from({ length: CLUSTERS }, () =>
  Array.from({ length: DIMENSIONS }, () => unit() * 2 - 1),
);
const makeVector = () =>
  (centers[random.below(CLUSTERS)] as number[]).map((x) => Math.fround(x + (unit() - 0.5) * 1.2));
const word = (n: number) => `w${n.toString(36)}`;
const makeText = () =>
  Array.from({ length: WORDS_PER_TEXT }, () => word(Math.floor(unit() ** 3 * WORDS))).join(' ');
const vectors: number[][] = [];

async function fill(): Promise<void> {
  await send('POST', ['dbs'], {}, { id: 'd' });
  const embedding = { dataType: 'float32', dimensions: DIMENSIONS, distanceFunction: 'cosine' };
  const spec = {
    id: 'c',
    partitionKey: { paths: ['/pk'], kind: 'Hash', version: 2 },
    vectorEmbeddingPolicy: { vectorEmbeddings: [{ path: '/vector', ...embedding }] },
    fullTextPolicy: { defaultLanguage: 'en-US', fullTextPaths: [{ path: '/text' }] },
    indexingPolicy: {
      includedPaths: [{ path: '/*' }],
      excludedPaths: ['/vector/*', '/text/?'].map((path) => ({ path })),
      vectorIndexes: [{ path: '/vector', type: 'diskANN' }],
      fullTextIndexes: [{ path: '/text' }],
    },
  };
  await send('POST', ['dbs', 'd', 'colls'], { 'x-ms-offer-throughput': '1000' }, spec);
  const database = service.databases.find('d');
  const container = database && service.containers.find(database, 'c');
  if (container === undefined) throw new Error('no container');
  for (let start = 0; start < ITEMS; start += AT_ONCE)
    await Promise.all(
      Array.from({ length: Math.min(AT_ONCE, ITEMS - start) }, (_, at) => {
        const vector = makeVector();
        vectors.push(vector);
        const [id, pk] = [`${start + at}`, `k${(start + at) % 97}`];
        const item = { id, pk, color: random.below(10), vector };
        const body = Buffer.from(JSON.stringify({ ...item, text: makeText() }));
        const write = {
          kind: 'create',
          partitionKey: [pk],
          rowKey: [id],
          body,
          ttlSec: 0,
        } as const;
        return service.items.write(container, write);
      }),
    );
}

/** With brute force every vector is looked at, as with a flat index. */
const near = (kind: 'flat' | 'graph', vector: readonly number[], filter = '') =>
  `SELECT TOP ${TOP} c.id FROM c ${filter} ORDER BY VectorDistance(c.vector, ${JSON.stringify(vector)}, ${kind === 'flat'})`;

function cosine(a: readonly number[], b: readonly number[]): number {
  let [dot, left, right] = [0, 0, 0];
  for (let at = 0; at < a.length; at++) {
    const [x, y] = [a[at] as number, b[at] as number];
    dot += x * y;
    left += x * x;
    right += y * y;
  }
  return dot / Math.sqrt(left * right);
}

async function recall(kind: 'flat' | 'graph'): Promise<number> {
  let hits = 0;
  const rounds = 10;
  for (let round = 0; round < rounds; round++) {
    const wanted = makeVector();
    const scores = vectors.map((vector, at) => ({ id: `${at}`, score: cosine(wanted, vector) }));
    scores.sort((a, b) => b.score - a.score);
    const exact = new Set(scores.slice(0, TOP).map(({ id }) => id));
    for (const { id } of await query(near(kind, wanted))) if (exact.has(id)) hits++;
  }
  return hits / (rounds * TOP);
}

async function readFeed(): Promise<number> {
  let count = 0;
  for (let etag = ''; ; ) {
    const start: Record<string, string> = etag === '' ? {} : { 'if-none-match': etag };
    const headers = { 'a-im': 'Incremental feed', 'x-ms-max-item-count': '1000', ...start };
    const page = await send('GET', ['dbs', 'd', 'colls', 'small', 'docs'], headers);
    if (page.status === 304) return count;
    etag = page.headers.get('etag') ?? '';
    count += Number(page.headers.get('x-ms-item-count'));
  }
}

/** A query makes the graph continue; it is built in slices, one per turn of the event loop, until it is done. */
async function graphBuilt(): Promise<void> {
  const started = performance.now();
  for (let idle = 0; idle < 3; ) {
    await query(near('graph', makeVector()));
    const before = performance.eventLoopUtilization();
    await new Promise((resolve) => setTimeout(resolve, 300));
    idle = performance.eventLoopUtilization(before).utilization < 0.5 ? idle + 1 : 0;
  }
  console.log(`graph built in ${Math.round((performance.now() - started) / 1000)} s`);
}

/** Small items, as feeds mostly have. */
async function fillSmall(): Promise<void> {
  const spec = { id: 'small', partitionKey: { paths: ['/pk'], kind: 'Hash', version: 2 } };
  await send('POST', ['dbs', 'd', 'colls'], {}, spec);
  const database = service.databases.find('d');
  const container = database && service.containers.find(database, 'small');
  if (container === undefined) throw new Error('no container');
  for (let start = 0; start < ITEMS; start += AT_ONCE)
    await Promise.all(
      Array.from({ length: Math.min(AT_ONCE, ITEMS - start) }, (_, at) => {
        const [id, pk] = [`${start + at}`, `k${(start + at) % 97}`];
        const body = Buffer.from(JSON.stringify({ id, pk, text: 'x'.repeat(200) }));
        const write = {
          kind: 'create',
          partitionKey: [pk],
          rowKey: [id],
          body,
          ttlSec: 0,
        } as const;
        return service.items.write(container, write);
      }),
    );
}

await fill();
await fillSmall();
console.log(`${ITEMS} items, ${DIMENSIONS} dimensions, ${WORDS_PER_TEXT} words`);
const feedCpu = process.cpuUsage();
const feedMs = performance.now();
const read = await readFeed();
const { user: feedUser } = process.cpuUsage(feedCpu);
const perSec = (ms: number) => Math.round((read / ms) * 1000);
console.log(
  `change feed, items of 300 bytes: ${perSec(performance.now() - feedMs)} items/s, ${perSec(feedUser / 1000)} per CPU second`,
);
const buildMs = performance.now();
await query(near('flat', makeVector()));
console.log(`indexes made in ${Math.round(performance.now() - buildMs)} ms`);
console.log('| search | median ms | CPU ms |\n|---|---:|---:|');
await measure('flat vectors', () => query(near('flat', makeVector())));
await measure('flat vectors, filter', () => query(near('flat', makeVector(), 'WHERE c.color = 3')));
const rank = (...words: number[]) =>
  `SELECT TOP ${TOP} c.id FROM c ORDER BY RANK FullTextScore(c.text, ${words.map((n) => `'${word(n)}'`).join()})`;
await measure('full text, common words', () => query(rank(3, 40)));
await measure('full text, rare words', (round) => query(rank(1000 + round, 3000 + round)));
await measure('full text, contains', (round) =>
  query(`SELECT c.id FROM c WHERE FullTextContains(c.text, '${word(4000 + round)}')`),
);
await graphBuilt();
await measure('graph of vectors', () => query(near('graph', makeVector())));
await measure('graph of vectors, filter', () =>
  query(near('graph', makeVector(), 'WHERE c.color = 3')),
);
console.log(`recall: flat ${await recall('flat')}, graph ${await recall('graph')}`);
server.closeAllConnections();
server.close();
await service.close();
await engine.close();
