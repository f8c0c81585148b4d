// Goal: no pattern of a query holds up the server. Method: the well-known bad ones over the wire; unbounded they would take years.
import { Agent } from 'node:http';
import { expect, test } from 'vitest';
import { ChildServer } from './child-server.ts';
import { send } from './wire.ts';

const TEXT = `${'a'.repeat(60)}b`;

test('patterns that backtrack for ever end soon, with a result or a refusal', async () => {
  await using server = await ChildServer.start(['--memory']);
  const agent = new Agent({ keepAlive: true });
  const post = (path: readonly string[], body: unknown, headers: Record<string, string> = {}) =>
    send(server.port, agent, { verb: 'POST', path, body: JSON.stringify(body), headers });
  await post(['dbs'], { id: 'd' });
  await post(['dbs', 'd', 'colls'], { id: 'c', partitionKey: { paths: ['/id'] } });
  const docs = ['dbs', 'd', 'colls', 'c', 'docs'];
  for (const id of ['1', '2'])
    await post(docs, { id, text: TEXT }, { 'x-ms-documentdb-partitionkey': `["${id}"]` });
  const run = async (filter: string) => {
    return post(
      docs,
      { query: `SELECT c.id FROM c WHERE ${filter}` },
      {
        'x-ms-documentdb-isquery': 'true',
        'x-ms-documentdb-query-enablecrosspartition': 'true',
        'content-type': 'application/query+json',
      },
    );
  };
  const linear = await run("REGEXMATCH(c.text, '^(a+)+$')");
  expect(linear.status).toBe(200);
  expect(JSON.parse(linear.body)).toMatchObject({ _count: 0 });
  const found = await run("REGEXMATCH(c.text, '^(a+)+b$')");
  expect(JSON.parse(found.body)).toMatchObject({ _count: 2 });
  for (const filter of [
    "REGEXMATCH(c.text, '^(A+)+$', 'i')",
    "REGEXMATCH(c.text, '(?=a)(a+)+$')",
  ]) {
    const refused = await run(filter);
    expect(refused.status).toBe(400);
    expect(refused.body).toContain('takes too long');
  }
  expect(await server.stop()).toMatchObject({ code: 0 });
});
