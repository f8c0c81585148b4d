// Goal: a vertex with 10,000 edges in several partitions is dropped as a whole or not at all. Method: the stock client
// drops it while a partition splits, and the server is killed somewhere in between; the seed is in the test's name.
import { CosmosClient } from '@azure/cosmos';
import gremlin, { type Client } from 'gremlin';
import { expect, test } from 'vitest';
import { seededRandom, WELL_KNOWN_KEY } from '../../src/base/index.ts';
import { ChildServer, runProgram } from '../server/child-server.ts';
import { newStorage, TIMEOUT_MS } from './storage.ts';

const SEED = Number(process.env.MESOCOSM_SEED ?? Date.now() % 1_000_000);
const IS_LONG = process.env.MESOCOSM_LONG !== undefined;
const ROUNDS = IS_LONG ? 40 : 4;
const SPOKES = 20;
/** Edges of one script; each spoke has so many in both directions. */
const EDGES = 250;
const ALL = 2 * SPOKES * EDGES;
/** A round takes some ten seconds on a busy machine. */
const LIMIT_MS = IS_LONG ? 5 * TIMEOUT_MS : TIMEOUT_MS;

test(`kill -9 while a vertex with ${ALL} edges is dropped (MESOCOSM_SEED=${SEED})`, {
  timeout: LIMIT_MS,
}, async () => {
  const random = seededRandom(SEED);
  const storage = newStorage();
  let wholeMs = 0;
  const outcomes: string[] = [];
  for (let round = 0; round <= ROUNDS; round++) {
    await using server = await ChildServer.start(storage);
    const client = clientOf(server);
    if (round === 0) await createGraph(server);
    else outcomes.push(await checkWhole(client));
    if (round === 0 || outcomes.at(-1) === 'dropped') await addHub(client);
    if (round === 0) wholeMs = await timeOfDrop(client);
    if (round === ROUNDS) break;
    const split = runProgram(['split', 'd/graph', await firstPartition(server)], {
      env: { MESOCOSM_ENDPOINT: server.endpoint },
    });
    const drop = client.submit("g.V(['hub','hub']).drop()").catch(() => undefined);
    const afterMs = random.below(Math.ceil(wholeMs * 1.3));
    await new Promise((resolve) => setTimeout(resolve, afterMs));
    await server.stop('SIGKILL');
    await Promise.all([drop, split]);
  }
  console.log(`a drop takes ${Math.round(wholeMs)} ms; after kills: ${outcomes.join(', ')}`);
  expect(outcomes).toHaveLength(ROUNDS);
});

function clientOf(server: ChildServer): Client {
  const { port } = new URL(String(server.ready.endpoints.gremlin));
  const client = new gremlin.driver.Client(`ws://127.0.0.1:${port}/`, {
    authenticator: new gremlin.driver.auth.PlainTextSaslAuthenticator(
      '/dbs/d/colls/graph',
      WELL_KNOWN_KEY,
    ),
  });
  client.addListener('socketError', () => undefined);
  return client;
}

async function createGraph(server: ChildServer): Promise<void> {
  const cosmos = new CosmosClient({ endpoint: server.endpoint, key: WELL_KNOWN_KEY });
  const { database } = await cosmos.databases.create({ id: 'd' });
  await database.containers.create({
    id: 'graph',
    partitionKey: { paths: ['/pk'], version: 2 },
    throughput: 1000,
  });
  cosmos.dispose();
}

async function addHub(client: Client): Promise<void> {
  await client.submit("g.addV('hub').property('id','hub').property('pk','hub')");
  const numbers = Array.from({ length: EDGES }, (_, at) => at);
  for (let at = 0; at < SPOKES; at++) {
    const s = `s${at}`;
    await client.submit(
      "g.V([s,s]).fold().coalesce(unfold(), addV('spoke').property('id',s).property('pk',s))",
      { s },
    );
    for (const [a, b] of [
      ['hub', s],
      [s, 'hub'],
    ])
      await client.submit("g.inject(x).unfold().V([a,a]).addE('e').to(V([b,b]))", {
        x: numbers,
        a,
        b,
      });
  }
  expect(await checkWhole(client)).toBe('kept');
}

async function timeOfDrop(client: Client): Promise<number> {
  const startedMs = performance.now();
  await client.submit("g.V(['hub','hub']).drop()");
  const tookMs = performance.now() - startedMs;
  expect(await checkWhole(client)).toBe('dropped');
  await addHub(client);
  return tookMs;
}

/** All edges and the vertex are there, or none of them. */
async function checkWhole(client: Client): Promise<'kept' | 'dropped'> {
  const [edges] = (await client.submit('g.E().count()')).toArray();
  const [hubs] = (await client.submit("g.V().hasLabel('hub').count()")).toArray();
  expect([
    [ALL, 1],
    [0, 0],
  ]).toContainEqual([edges, hubs]);
  expect((await client.submit("g.V().hasLabel('spoke').count()")).toArray()).toEqual([SPOKES]);
  return hubs === 1 ? 'kept' : 'dropped';
}

async function firstPartition(server: ChildServer): Promise<string> {
  const { stdout } = await runProgram(['partitions', 'd/graph', '--json'], {
    env: { MESOCOSM_ENDPOINT: server.endpoint },
  });
  return String(JSON.parse(stdout).partitions[0].id);
}
