// Goal: whatever throws on the way of a request, in whatever layer, ends that request with 400, 500 or 503, is reported,
// and leaves the server as it was for everybody else. Method: the APIs over parts that throw on demand, one part at a time.
import type { AddressInfo } from 'node:net';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import {
  createAdmin,
  inFrontOf,
  RequestMetrics,
  SeriesRecorder,
} from '../../src/api/admin/index.ts';
import { createExplainer, createNosqlHandler, nosqlHome } from '../../src/api/nosql/index.ts';
import { finishJson } from '../../src/api/nosql/items/system-properties.ts';
import { Metrics, seededRandom, systemClock } from '../../src/base/index.ts';
import type { Engine, Store } from '../../src/engine/index.ts';
import { memoryEngine } from '../../src/engine/memory/index.ts';
import { HttpServer, withFailureHandling } from '../../src/http/index.ts';
import {
  DEFAULT_SETTINGS,
  type HomeApi,
  memoryAccessStore,
  openAccessControl,
  openService,
  type Service,
} from '../../src/service/index.ts';
import { type Account, PRIMARY_KEY } from '../compat/nosql/harness.ts';
import { type RawReply, type RawRequest, sendRaw } from '../compat/nosql/raw-request.ts';

/** The part that throws at present, by name. */
let broken = '';
/** Failures reported since the test began. */
let reported: string[] = [];
const escaped: unknown[] = [];
const onEscaped = (error: unknown): void => void escaped.push(error);

function breaks(name: string): void {
  if (broken === name) throw new Error(`broken: ${name}`);
}

function report(where: string, error: unknown): void {
  reported.push(`${where}: ${error instanceof Error ? error.message : String(error)}`);
}

/** Stores of partitions throw; that of the catalog does not. */
function faultyEngine(): Engine {
  const inner = memoryEngine();
  const faulty = (store: Store): Store => {
    if (!store.name.includes('/')) return store;
    return new Proxy(store, {
      get(target, name) {
        const value = Reflect.get(target, name, target);
        if (typeof value !== 'function') return value;
        return (...args: unknown[]) => {
          breaks(`engine ${String(name)}`);
          if (name === 'commit' && broken === 'engine commit later')
            return Promise.reject(new Error('broken: engine commit later'));
          return Reflect.apply(value, target, args);
        };
      },
    });
  };
  return {
    open: async (name) => {
      breaks('engine open');
      return faulty(await inner.open(name));
    },
    list: () => inner.list(),
    drop: (name) => inner.drop(name),
    close: () => inner.close(),
  };
}

/** The NoSQL API with a finisher and a computed property that may throw. */
function faultyHome(): HomeApi {
  return {
    ...nosqlHome,
    finisher: (container) => {
      const finisher = finishJson(container);
      return Object.assign((...args: Parameters<typeof finisher>) => finisher(...args), finisher, {
        tail: (...args: Parameters<NonNullable<typeof finisher.tail>>) => {
          breaks('finisher');
          return finisher.tail?.(...args) as string;
        },
      });
    },
    computed: () => [
      {
        name: 'sum',
        definition: 'a',
        compute: () => {
          breaks('computed property');
          return 1;
        },
      },
    ],
  };
}

let service: Service;
let server: HttpServer;
let account: Account;

beforeAll(async () => {
  process.on('unhandledRejection', onEscaped);
  process.on('uncaughtException', onEscaped);
  service = await openService({
    engine: faultyEngine(),
    clock: systemClock,
    random: seededRandom(1),
    settings: { ...DEFAULT_SETTINGS, throughputMode: 'report' },
    homes: [faultyHome()],
    onPartitionFailure: ({ error }) => report('partition', error),
  });
  const access = openAccessControl(
    { keys: { primary: PRIMARY_KEY } },
    memoryAccessStore(),
    service.clock,
  );
  const nosql = createNosqlHandler({
    service,
    access,
    version: 'test',
    onRequest: () => breaks('request metrics'),
    onFailure: ({ error }) => report('nosql', error),
  });
  const explain = createExplainer(service);
  const admin = createAdmin({
    service,
    metrics: new Metrics(),
    requests: new RequestMetrics(new Metrics()),
    recorder: new SeriesRecorder(service, systemClock),
    apis: () => [],
    version: 'test',
    uptimeSec: () => {
      breaks('printing');
      return 1;
    },
    clock: systemClock,
    keys: access.keys,
    storage: { report: () => ONE_COPY },
    areMetricsOpen: true,
    explain: (request) => {
      breaks('explain');
      return explain(request);
    },
    onFailure: ({ error }) => report('admin', error),
  });
  const administered = inFrontOf(nosql, { admin: admin.handler, portalPort: () => undefined });
  server = new HttpServer(
    {},
    withFailureHandling(
      (exchange) => {
        breaks('handler');
        if (broken === 'finish') {
          const { send } = exchange;
          let isFirst = true;
          exchange.send = (status, headers, body, encoding) => {
            // The first response has a header that cannot be printed.
            if (isFirst) headers.push('x-broken', 'a\nb');
            isFirst = false;
            send.call(exchange, status, headers, body, encoding);
          };
        }
        administered(exchange);
      },
      (error) => report('listener', error),
    ),
  );
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  account = { port: (server.address() as AddressInfo).port } as Account;
  await expectStatus(201, { method: 'POST', path: '/dbs', body: { id: 'd' } });
  const partitionKey = { paths: ['/id'], kind: 'Hash' };
  const body = { id: 'c', partitionKey };
  await expectStatus(201, { method: 'POST', path: '/dbs/d/colls', body });
});

afterAll(async () => {
  server.closeAllConnections();
  server.close();
  await service.close();
  process.off('unhandledRejection', onEscaped);
  process.off('uncaughtException', onEscaped);
});

beforeEach(() => {
  reported = [];
});

afterEach(async () => {
  broken = '';
  await new Promise((resolve) => setImmediate(resolve));
  expect(escaped).toEqual([]);
});

const ONE_COPY = {
  engine: 'memory',
  instance: 'local',
  replicas: [],
  quorum: { needed: 1, healthy: 1 },
};

async function expectStatus(status: number, request: RawRequest): Promise<RawReply> {
  const reply = await sendRaw(account, request);
  expect([reply.status, reply.text]).toEqual([status, reply.text]);
  return reply;
}

let count = 0;
const ITEMS = '/dbs/d/colls/c/docs';
const keyHeader = (id: string) => ({ 'x-ms-documentdb-partitionkey': JSON.stringify([id]) });

function creation(id = `i${count++}`): RawRequest {
  return { method: 'POST', path: ITEMS, body: { id, a: 1 }, headers: keyHeader(id) };
}

function reading(id: string): RawRequest {
  return { path: `${ITEMS}/${id}`, headers: keyHeader(id) };
}

const QUERY: RawRequest = {
  method: 'POST',
  path: ITEMS,
  headers: {
    'content-type': 'application/query+json',
    'x-ms-documentdb-isquery': 'true',
    'x-ms-documentdb-query-enablecrosspartition': 'true',
  },
  body: { query: 'SELECT VALUE c.id FROM c WHERE c.a = 1' },
};

const EXPLANATION: RawRequest = {
  method: 'POST',
  path: '/_mesocosm/explain',
  type: '',
  link: '_mesocosm/explain',
  body: { db: 'd', container: 'c', query: 'SELECT * FROM c' },
};

const HEALTH: RawRequest = { path: '/_mesocosm/health' };

/** A request that node:http reads, because it is not simple. */
function unusual(request: RawRequest): RawRequest {
  return { ...request, headers: { ...request.headers, expect: '100-continue' } };
}

const FAULTS: readonly (readonly [string, RawRequest, number, string])[] = [
  ['engine commit', creation('x1'), 503, 'partition: broken: engine commit'],
  ['engine commit later', creation('x2'), 503, 'partition: broken: engine commit later'],
  ['engine dereference', reading('nobody'), 500, 'nosql: broken: engine dereference'],
  ['engine snapshot', QUERY, 500, 'nosql: broken: engine snapshot'],
  ['finisher', creation('x3'), 500, 'nosql: broken: finisher'],
  ['explain', EXPLANATION, 500, 'admin: broken: explain'],
  ['printing', HEALTH, 500, 'admin: broken: printing'],
  ['handler', HEALTH, 500, 'listener: broken: handler'],
  ['handler', unusual(creation('x4')), 500, 'listener: broken: handler'],
];

test.each(FAULTS)('%s', async (name, request, status, expected) => {
  await expectStatus(201, creation());
  broken = name;
  await expectStatus(status, request);
  expect(reported).toContain(expected);
  broken = '';
  const id = `i${count}`;
  await expectStatus(201, creation());
  await expectStatus(200, reading(id));
  expect((await expectStatus(200, QUERY)).json.Documents).toContain(id);
  await expectStatus(200, EXPLANATION);
});

test.each([
  ['the fast path', (request: RawRequest) => request],
  ['node:http', unusual],
])('a response that cannot be sent by %s', async (_, via) => {
  broken = 'finish';
  const { json } = await expectStatus(500, via(creation()));
  expect(json.code).toBe('InternalServerError');
  expect(reported).toHaveLength(1);
  broken = '';
  await expectStatus(201, via(creation()));
});

test('a report of a request that throws', async () => {
  broken = 'request metrics';
  await expectStatus(201, creation());
  expect(reported).toEqual(['nosql: broken: request metrics']);
});

test('a computed property that throws: the item is written and read, and has no such property', async () => {
  broken = 'computed property';
  const id = `i${count}`;
  await expectStatus(201, creation());
  await expectStatus(200, reading(id));
  expect((await expectStatus(200, QUERY)).json.Documents).toContain(id);
  expect(reported).toEqual([]);
});

test('a split that the engine fails is refused, and done when the engine is well again', async () => {
  const headers = { 'x-ms-offer-throughput': '1000' };
  const body = { id: 'wide', partitionKey: { paths: ['/id'], kind: 'Hash' } };
  await expectStatus(201, { method: 'POST', path: '/dbs/d/colls', body, headers });
  for (let at = 0; at < 20; at++)
    await expectStatus(201, { ...creation(`s${at}`), path: '/dbs/d/colls/wide/docs' });
  const split: RawRequest = {
    method: 'POST',
    path: '/_mesocosm/split',
    type: '',
    link: '_mesocosm/split',
    body: { db: 'd', container: 'wide', partition: '0' },
  };
  for (const fault of ['engine open', 'engine snapshot', 'engine commit later']) {
    broken = fault;
    const reply = await sendRaw(account, split);
    expect([fault, reply.status >= 500, reply.text]).toEqual([fault, true, reply.text]);
    broken = '';
    await expectStatus(201, creation());
  }
  await expectStatus(200, split);
  const path = '/dbs/d/colls/wide/docs';
  expect((await expectStatus(200, { ...QUERY, path })).json.Documents).toHaveLength(20);
});

test('an index that cannot be built: queries give what they gave', async () => {
  const partitionKey = { paths: ['/id'], kind: 'Hash', version: 2 };
  const path = '/dbs/d/colls/built';
  await expectStatus(201, {
    method: 'POST',
    path: '/dbs/d/colls',
    body: { id: 'built', partitionKey },
  });
  for (let at = 0; at < 20; at++)
    await expectStatus(201, { ...creation(`b${at}`), path: `${path}/docs` });
  const indexingPolicy = {
    includedPaths: [{ path: '/a/?' }],
    excludedPaths: [{ path: '/*' }],
  };
  broken = 'engine scan';
  await expectStatus(200, {
    method: 'PUT',
    path,
    body: { id: 'built', partitionKey, indexingPolicy },
  });
  await expect
    .poll(() => reported, { timeout: 60_000 })
    .toContain('partition: broken: engine scan');
  broken = '';
  await expectStatus(201, creation());
  const found = await expectStatus(200, { ...QUERY, path: `${path}/docs` });
  expect(found.json.Documents).toHaveLength(20);
});

test('a client that closes its connection during the response', async () => {
  const { connect } = await import('node:net');
  for (let round = 0; round < 20; round++)
    await new Promise<void>((resolve) => {
      const socket = connect(account.port, '127.0.0.1', () => {
        socket.write(`GET ${ITEMS} HTTP/1.1\r\nHost: x\r\n\r\n`);
        socket.resetAndDestroy();
      });
      socket.on('close', () => resolve());
    });
  await expectStatus(201, creation());
  expect(reported).toEqual([]);
});
