// Goal: an evaluation that fails inside an explanation, or in a computed property at a write or while indexing, does not
// end the process, now or after a restart. Method: the built program; requests by hand; kill -9 between write and start.
import { Agent } from 'node:http';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { ChildServer, temporaryFolder } from './child-server.ts';
import { send } from './wire.ts';

const LARGE = `REPLACE(REPLICATE('a',10000),'a',CONCAT(REPLICATE('b',10000),REPLICATE('b',4000)))`;
const DEEP = `StringToArray('${'['.repeat(10_000)}${']'.repeat(10_000)}')`;

function poster(server: ChildServer) {
  const agent = new Agent({ keepAlive: true });
  return async (path: string, body: object, headers: Record<string, string> = {}) => {
    const wire = { verb: 'POST', path: path.split('/'), body: JSON.stringify(body), headers };
    const { status, body: text } = await send(server.port, agent, wire);
    return { status, json: JSON.parse(text) };
  };
}

const ITEM_KEY = { 'x-ms-documentdb-partitionkey': '["1"]' };
const QUERY = {
  'x-ms-documentdb-isquery': 'true',
  'x-ms-documentdb-query-enablecrosspartition': 'true',
  'content-type': 'application/query+json',
};

test('an explanation of a query that fails inside is refused, and the process lives', async () => {
  await using server = await ChildServer.start(['--memory']);
  const post = poster(server);
  await post('dbs', { id: 'd' });
  await post('dbs/d/colls', { id: 'c', partitionKey: { paths: ['/id'] } });
  await post('dbs/d/colls/c/docs', { id: '1', text: `${'a'.repeat(60)}b` }, ITEM_KEY);
  const explain = (query: string) =>
    post('_mesocosm/explain', { db: 'd', container: 'c', query, parameters: [] });
  for (const query of [
    `SELECT VALUE LENGTH(REVERSE(${LARGE})) FROM c`,
    `SELECT VALUE ${DEEP} = [] FROM c`,
    "SELECT VALUE REGEXMATCH(c.text, '^(A+)+$', 'i') FROM c",
    'SELECT VALUE udf.missing(c) FROM c',
    'SELECT VALUE (SELECT VALUE x FROM x IN [1, 2]) FROM c',
  ]) {
    const { status, json } = await explain(query);
    expect([query, status, json.code]).toEqual([query, 400, 'BadRequest']);
  }
  expect(await explain('SELECT VALUE c.id FROM c')).toMatchObject({
    status: 200,
    json: { rows: 1 },
  });
  const { code, stderr } = await server.stop();
  expect([code, stderr]).toEqual([0, expect.not.stringContaining('Failed')]);
});

test('a computed property whose evaluation throws ends no process, at the write or after a restart', async () => {
  const data = join(temporaryFolder(), 'data');
  /** The item is found; a query of the property is refused, because it takes too much. */
  const check = async (server: ChildServer) => {
    const rows = (query: string) => poster(server)('dbs/d/colls/c/docs', { query }, QUERY);
    expect(await rows('SELECT VALUE c.id FROM c')).toMatchObject({
      status: 200,
      json: { Documents: ['1'] },
    });
    expect(await rows('SELECT VALUE c.cp0 FROM c')).toMatchObject({
      status: 400,
      json: { message: expect.stringContaining('size of the values') },
    });
  };
  {
    await using server = await ChildServer.start(['--data', data]);
    const post = poster(server);
    await post('dbs', { id: 'd' });
    const computed = [LARGE, `${DEEP} = []`, "REGEXMATCH(c.text, '^(A+)+$', 'i')"];
    const made = await post('dbs/d/colls', {
      id: 'c',
      partitionKey: { paths: ['/id'] },
      computedProperties: computed.map((value, at) => ({
        name: `cp${at}`,
        query: `SELECT VALUE ${value} FROM c`,
      })),
      indexingPolicy: {
        includedPaths: ['/*', ...computed.map((_, at) => `/cp${at}/?`)].map((path) => ({ path })),
      },
    });
    expect(made.status).toBe(201);
    const item = { id: '1', text: `${'a'.repeat(60)}b` };
    expect((await post('dbs/d/colls/c/docs', item, ITEM_KEY)).status).toBe(201);
    await check(server);
    expect(await server.stop('SIGKILL')).toMatchObject({ signal: 'SIGKILL' });
  }
  await using server = await ChildServer.start(['--data', data]);
  await check(server);
  const { code, stderr } = await server.stop();
  expect([code, stderr]).toEqual([0, expect.not.stringContaining('Failed')]);
});
