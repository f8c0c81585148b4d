// Goal: a start on PostgreSQL says what is wrong in one line and changes nothing, and what belongs to the account survives
// a move to another machine. Method: the built program on a real member with users of different rights.
import { Agent } from 'node:http';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import type { LocalReplicaSet } from '../../src/engine/postgres/local/local-replica-set.ts';
import { reportMissing } from '../../src/engine/postgres/local/test-member.ts';
import { ChildServer, runProgram, temporaryFolder } from '../server/child-server.ts';
import { send } from '../server/wire.ts';
import { createContainer, get, put, startNode, startSet } from './world.ts';

const started = await startSet({
  members: 1,
  access: ['host all guarded 127.0.0.1/32 scram-sha-256'],
});
if (typeof started === 'string') reportMissing(new Error(started));
else withMember(started);

function withMember(set: LocalReplicaSet): void {
  afterAll(() => set.stop());
  const { port } = set.primary;
  const urlOf = (user: string, more = '') => `postgres://${user}@127.0.0.1:${port}/mesocosm${more}`;
  const refusalOf = async (url: string, env: Record<string, string> = {}, ...flags: string[]) => {
    const { code, stderr } = await runProgram(['start', '--engine', url, ...flags], { env });
    expect(code).toBe(1);
    return stderr.replaceAll(String(port), 'PORT').trim();
  };

  test('wrong addresses, passwords and rights are named', async () => {
    await set.primary.query(
      "CREATE ROLE guarded LOGIN PASSWORD 'right'",
      'CREATE ROLE plain LOGIN',
      'CREATE ROLE blind LOGIN',
      'GRANT CREATE ON DATABASE mesocosm TO blind',
      'REVOKE CREATE ON DATABASE mesocosm FROM PUBLIC',
    );
    expect(await refusalOf('postgres://mesocosm@127.0.0.1:1/mesocosm')).toBe(
      'mesocosm: cannot use postgres://mesocosm@127.0.0.1:1/mesocosm (--engine): No member takes writes: 127.0.0.1:1: connect ECONNREFUSED 127.0.0.1:1.',
    );
    expect(await refusalOf(urlOf('mesocosm').replace(/mesocosm$/, 'absent'))).toContain(
      'database "absent" does not exist',
    );
    expect(await refusalOf(urlOf('guarded'), { PGPASSWORD: 'wrong' })).toBe(
      'mesocosm: cannot use postgres://guarded@127.0.0.1:PORT/mesocosm (--engine): No member takes writes: 127.0.0.1:PORT: password authentication failed for user "guarded".',
    );
    expect(await refusalOf(urlOf('guarded'))).toContain(
      '127.0.0.1:PORT: it asks for a password: set PGPASSWORD.',
    );
    expect(await refusalOf(urlOf('plain'))).toContain(
      'user plain may not create tables. Run as an administrator: GRANT CREATE ON DATABASE mesocosm TO plain;',
    );
    expect(await refusalOf(urlOf('blind'))).toContain('GRANT pg_monitor TO blind;');
    const { code, stderr } = await runProgram(['start', '--engine', 'postgres://nowhere']);
    expect([code, stderr]).toEqual([
      2,
      'mesocosm: --engine: allowed is postgres://USER@HOST[:PORT][,HOST…]/DATABASE.\n',
    ]);
  });

  test('too few replicas are refused, and taken with --replicas any', async () => {
    expect(await refusalOf(urlOf('mesocosm'))).toContain(
      "synchronous_standby_names is empty; 'ANY 2 (b, c, d)' makes a commit wait for three of four members. Correct it, or start with --replicas any to take less.",
    );
    await set.primary.query(
      "ALTER SYSTEM SET synchronous_standby_names = 'ANY 2 (b, c, d)'",
      'SELECT pg_reload_conf()',
    );
    expect(await refusalOf(urlOf('mesocosm'))).toContain(
      'A commit needs 3 members, and 1 are there.',
    );
    await set.primary.query(
      'ALTER SYSTEM RESET synchronous_standby_names',
      'SELECT pg_reload_conf()',
    );
    await using node = await startNode(urlOf('mesocosm'), '--replicas', 'any');
    const { stderr } = await node.stop();
    expect(stderr).toContain('"fewerReplicas"');
  });

  test('tables of a newer version are left alone', async () => {
    const url = urlOf('mesocosm', '?schema=newer');
    await (await startNode(url, '--replicas', 'any')).stop();
    await onDatabase(set, "UPDATE newer.settings SET value = '7' WHERE name = 'format'");
    expect(await refusalOf(url, {}, '--replicas', 'any')).toContain(
      'the tables in schema newer have format version 7; this program understands: 1.',
    );
  });

  test('a second node is refused while the first one lives', async () => {
    const url = urlOf('mesocosm', '?schema=twice');
    await using node = await startNode(url, '--replicas', 'any');
    expect(await refusalOf(url, {}, '--replicas', 'any')).toContain(
      'another node uses it, connected from 127.0.0.1 since',
    );
    expect((await node.stop()).code).toBe(0);
  });

  test('keys and the TLS authority are the same after a move to another machine', async () => {
    const url = urlOf('mesocosm', '?schema=moved');
    const flags = ['--replicas', 'any', '--tls'];
    const first = await startNode(url, ...flags);
    const pem = await certificateOf(first);
    const key = {
      verb: 'POST',
      path: ['_mesocosm', 'keys', 'rotate'],
      body: '{"key":"secondary"}',
    };
    const rotated = await send(first.port, new Agent(), key);
    expect(rotated.status).toBe(200);
    expect((await first.stop()).code).toBe(0);
    await using second = await startNode(url, ...flags);
    expect(await certificateOf(second)).toBe(pem);
    const listed = await send(second.port, new Agent(), {
      verb: 'GET',
      path: ['_mesocosm', 'keys'],
    });
    expect(JSON.parse(listed.body)).toMatchObject(JSON.parse(rotated.body));
  });

  test('copy-data brings an account to PostgreSQL and back', async () => {
    const [data, back] = [join(temporaryFolder(), 'data'), join(temporaryFolder(), 'back')];
    const url = urlOf('mesocosm', '?schema=copied');
    const agent = new Agent();
    {
      await using node = await ChildServer.start(['--data', data, '--tls']);
      await createContainer(node.port);
      for (let item = 0; item < 50; item++) await put(node.port, agent, `i${item}`, item);
      await node.stop();
    }
    const copied = await runProgram(['copy-data', '--from', data, '--to', url]);
    expect([copied.code, copied.stdout]).toEqual([
      0,
      expect.stringMatching(/^copied and verified 3 stores, \d+ entries, /),
    ]);
    expect(await runProgram(['copy-data', '--from', data, '--to', url])).toMatchObject({
      code: 1,
      stderr: 'mesocosm: the target has data already. Give an empty one.\n',
    });
    {
      await using node = await startNode(url, '--replicas', 'any');
      for (let item = 0; item < 50; item++)
        expect(JSON.parse((await get(node.port, agent, `i${item}`)).body).version).toBe(item);
      await put(node.port, agent, 'i7', 100);
      await node.stop();
    }
    const nowhere = urlOf('mesocosm', '?schema=nowhere');
    expect((await runProgram(['copy-data', '--from', nowhere, '--to', back])).stderr).toContain(
      'database mesocosm has no account in schema nowhere.',
    );
    expect((await runProgram(['copy-data', '--from', url, '--to', back])).code).toBe(0);
    await using node = await ChildServer.start(['--data', back]);
    expect(JSON.parse((await get(node.port, agent, 'i7')).body).version).toBe(100);
    agent.destroy();
  });
}

async function certificateOf({ port }: ChildServer): Promise<string> {
  const reply = await send(port, new Agent(), { verb: 'GET', path: ['_mesocosm', 'ca.pem'] });
  expect(reply.status).toBe(200);
  return reply.body;
}

async function onDatabase(set: LocalReplicaSet, text: string): Promise<void> {
  const client = await set.primary.connect('mesocosm');
  await client.query(text);
  await client.end();
}
