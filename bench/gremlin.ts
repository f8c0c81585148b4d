/**
 * Gremlin beside the NoSQL API: CPU time and median latency of each operation, in a small graph and in one a hundred
 * times larger. One server on SQLite, the stock clients in this process, alternating within one run.
 *
 *   node bench/gremlin.ts [--quick]
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { CosmosClient } from '@azure/cosmos';
import gremlin from 'gremlin';
import { DEFAULT_INDEXING_POLICY } from '../src/catalog/index.ts';
import type { Service } from '../src/service/index.ts';
import { alternate, medianOf } from './compare.ts';
import { openData } from './seed.ts';
import { type ApiServer, cpuMsOf, startApis } from './servers/processes.ts';

const { values: flags } = parseArgs({ options: { quick: { type: 'boolean', default: false } } });
const ROUNDS = flags.quick ? 3 : 5;
const ROUND_MS = flags.quick ? 1000 : 2000;
const CONCURRENCY = 4;
const DEGREE = 5;
const TEXT = 'x'.repeat(300);
/** Vertices of the two graphs, and how many of them have edges. */
const SIZES = { small: 1000, large: flags.quick ? 20_000 : 100_000 };
const CONNECTED_MAX = 20_000;
const AT_ONCE = 2000;

type GraphName = keyof typeof SIZES;

interface Load {
  readonly name: string;
  readonly base: 'read' | 'create';
  run(number: number): Promise<unknown>;
}

function idOf(number: number): string {
  return `v${number}`;
}

/** Each vertex has a partition key of its own: neighbours lie anywhere. */
function* documents(count: number): Generator<Record<string, unknown>> {
  for (let number = 0; number < count; number++) {
    const id = idOf(number);
    const n = [{ id: `${id}|n`, _value: number }];
    yield { id, pk: id, label: 'item', n, text: [{ id: `${id}|t`, _value: TEXT }] };
  }
  const connected = Math.min(count, CONNECTED_MAX);
  for (let at = 0; at < connected * DEGREE; at++) {
    const from = idOf(at % connected);
    const to = idOf((at * 7919 + 13) % connected);
    yield {
      id: `e${at}`,
      pk: from,
      label: 'link',
      _isEdge: true,
      _vertexId: from,
      _vertexLabel: 'item',
      _sink: to,
      _sinkLabel: 'item',
      _sinkPartition: to,
    };
  }
}

async function seedGraph(service: Service, name: GraphName): Promise<void> {
  const database =
    service.databases.find('graphs') ?? (await service.databases.create('graphs', undefined));
  const container = await service.containers.create(database.rid, {
    id: name,
    partitionKey: { paths: ['/pk'], kind: 'Hash', version: 2 },
    home: 'nosql',
    indexingPolicy: DEFAULT_INDEXING_POLICY,
    uniqueKeys: [],
    policies: {},
  });
  let writes: unknown[] = [];
  for (const value of documents(SIZES[name])) {
    const { id, pk } = value as { readonly id: string; readonly pk: string };
    const body = Buffer.from(JSON.stringify(value));
    const address = { partitionKey: [pk], rowKey: [id] };
    writes.push(service.items.write(container, { ...address, kind: 'create', body, ttlSec: 0 }));
    if (writes.length < AT_ONCE) continue;
    await Promise.all(writes);
    writes = [];
  }
  await Promise.all(writes);
}

function nosqlLoads({ endpoints, key }: ApiServer): readonly Load[] {
  const client = new CosmosClient({ endpoint: endpoints.nosql, key });
  const container = client.database('graphs').container('small');
  const at = (number: number) => idOf(number % SIZES.small);
  return [
    {
      name: 'NoSQL point read',
      base: 'read',
      run: (number) => container.item(at(number), at(number)).read(),
    },
    {
      name: 'NoSQL create',
      base: 'create',
      run: (number) => container.items.create({ id: `c${number}`, pk: `c${number}`, text: TEXT }),
    },
  ];
}

/** What is read in both graphs. */
const READS = {
  'lookup by (pk, id)': 'g.V([id, id])',
  '1 hop out': 'g.V([id, id]).out().id()',
  '1 hop in': 'g.V([id, id]).in().id()',
  '2 hops out': 'g.V([id, id]).out().out().id()',
  '2 hops in': 'g.V([id, id]).in().in().id()',
  '2 hops out, with vertices': 'g.V([id, id]).out().out()',
  'filter by property': "g.V().has('n', n).id()",
} as const;

const ADD = "addV('item').property('id', id).property('pk', id).property('text', text)";
const WRITES = {
  addV: `g.${ADD}`,
  addE: "g.V([a, a]).addE('extra').to(V([b, b]))",
  'upsert by coalesce, new': `g.V([id, id]).fold().coalesce(unfold(), ${ADD})`,
  'upsert by coalesce, known': `g.V([a, a]).fold().coalesce(unfold(), addV('item').property('id', a).property('pk', a)).property('seen', n)`,
  'upsert by mergeV, new':
    "g.mergeV([(T.id): id, pk: id]).option(onCreate, [(T.label): 'item', (T.id): id, pk: id, text: text])",
  'upsert by mergeV, known': 'g.mergeV([(T.id): a, pk: a]).option(onMatch, [seen: n])',
} as const;

function gremlinLoads({ endpoints, key }: ApiServer): readonly Load[] {
  const loads: Load[] = [];
  for (const graph of ['small', 'large'] as const) {
    const path = `/dbs/graphs/colls/${graph}`;
    const client = new gremlin.driver.Client(`${endpoints.gremlin}gremlin`, {
      authenticator: new gremlin.driver.auth.PlainTextSaslAuthenticator(path, key),
      traversalSource: 'g',
      mimeType: 'application/vnd.gremlin-v2.0+json',
    });
    const connected = Math.min(SIZES[graph], CONNECTED_MAX);
    for (const [name, script] of Object.entries(READS))
      loads.push({
        name: `${name} (${graph})`,
        base: 'read',
        run: (number) => {
          const n = (number * 31) % connected;
          return client.submit(script, { id: idOf(n), n });
        },
      });
    if (graph === 'small') continue;
    for (const [at, [name, script]] of Object.entries(WRITES).entries())
      loads.push({
        name: `${name} (${graph})`,
        base: 'create',
        run: (number) => {
          const [a, b] = [idOf(number % connected), idOf((number * 17) % connected)];
          return client.submit(script, { id: `w${at}-${number}`, text: TEXT, a, b, n: number });
        },
      });
  }
  return loads;
}

interface Figure {
  readonly cpuUs: number;
  readonly medianMs: number;
}

async function measure(pid: number, load: Load, next: () => number): Promise<Figure> {
  const beforeMs = cpuMsOf(pid);
  const end = performance.now() + ROUND_MS;
  const timesMs: number[] = [];
  const worker = async (): Promise<void> => {
    while (performance.now() < end) {
      const startedMs = performance.now();
      await load.run(next());
      timesMs.push(performance.now() - startedMs);
    }
  };
  await Promise.all(Array.from({ length: CONCURRENCY }, worker));
  const cpuUs = ((cpuMsOf(pid) - beforeMs) * 1000) / timesMs.length;
  return { cpuUs, medianMs: medianOf(timesMs) };
}

const folder = mkdtempSync(join(tmpdir(), 'mesocosm-bench-gremlin-'));
const data = await openData(folder);
for (const name of ['small', 'large'] as const) await seedGraph(data.service, name);
await data.close();
const server = await startApis(folder);
const loads = [...nosqlLoads(server), ...gremlinLoads(server)];
const figures = await alternate(loads, ROUNDS, (load, nextNumber) =>
  measure(server.pid, load, nextNumber),
);
await server.stop();
rmSync(folder, { recursive: true });

console.log(`${SIZES.large} vertices; median of ${ROUNDS} rounds, load ${loadavg()[0]}`);
const cpuOf = (at: number): number => medianOf((figures[at] ?? []).map(({ cpuUs }) => cpuUs));
const bases = { read: cpuOf(0), create: cpuOf(1) };
for (const [at, { name, base }] of loads.entries()) {
  const latencyMs = medianOf((figures[at] ?? []).map(({ medianMs }) => medianMs));
  const ratio = cpuOf(at) / bases[base];
  console.log(
    `| ${name} | ${cpuOf(at).toFixed(0)} | ${ratio.toFixed(2)} ${base}s | ${latencyMs.toFixed(1)} |`,
  );
}
process.exit(0);
