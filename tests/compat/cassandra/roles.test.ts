// Goal: logins, roles and permissions as a client sees them. Method: the stock driver, one client for each role.
import type { Client } from 'cassandra-driver';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { ACCOUNT, KEY, READ_KEY, startServer, type TestServer } from './harness.ts';

let server: TestServer;
let admin: Client;
beforeAll(async () => {
  server = await startServer({ loginMode: 'cassandra' });
  admin = await server.connect();
  await admin.execute(
    "CREATE KEYSPACE k WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}",
  );
  await admin.execute('CREATE TABLE k.t (a int PRIMARY KEY, v text)');
  await admin.execute("CREATE ROLE ann WITH PASSWORD = 'secret' AND LOGIN = true");
});
afterAll(async () => {
  expect(server.failures).toEqual([]);
  await server.close();
});

function connectAs(username: string, password: string): Promise<Client> {
  return server.connect({ credentials: { username, password } });
}

const SELECT_REFUSED = 'User ann has no SELECT permission on <table k.t> or any of its parents';

test('a role may do what was granted to it, from that moment on', async () => {
  const ann = await connectAs('ann', 'secret');
  const select = 'SELECT * FROM k.t WHERE a = 1';
  await expect(ann.execute(select)).rejects.toMatchObject({
    code: 0x2100,
    message: SELECT_REFUSED,
  });
  await expect(ann.execute(select, [], { prepare: true })).rejects.toThrow(SELECT_REFUSED);
  await admin.execute('GRANT SELECT ON TABLE k.t TO ann');
  expect((await ann.execute(select, [], { prepare: true })).rowLength).toBe(0);
  const insert = "INSERT INTO k.t (a, v) VALUES (1, 'x')";
  await expect(ann.execute(insert)).rejects.toThrow(/no MODIFY permission on <table k.t>/);
  await expect(ann.batch([insert])).rejects.toThrow(/no MODIFY permission on <table k.t>/);
  await admin.execute('GRANT MODIFY ON KEYSPACE k TO ann');
  await ann.execute(insert);
  await admin.execute('REVOKE SELECT ON TABLE k.t FROM ann');
  await expect(ann.execute(select, [], { prepare: true })).rejects.toThrow(SELECT_REFUSED);
});

test('permissions come with membership, and are listed', async () => {
  await admin.execute('CREATE ROLE readers');
  await admin.execute('GRANT SELECT ON ALL KEYSPACES TO readers');
  await admin.execute("CREATE USER bob WITH PASSWORD 'b' NOSUPERUSER");
  const bob = await connectAs('bob', 'b');
  await expect(bob.execute('SELECT * FROM k.t')).rejects.toThrow(/no SELECT permission/);
  await admin.execute('GRANT readers TO bob');
  expect((await bob.execute('SELECT * FROM k.t')).rowLength).toBe(1);
  const roles = await admin.execute('LIST ROLES OF bob');
  expect(roles.rows.map((row) => [row.role, row.super, row.login])).toEqual([
    ['bob', false, true],
    ['readers', false, false],
  ]);
  const permissions = await admin.execute('LIST ALL PERMISSIONS OF bob');
  expect(permissions.rows.map((row) => [row.role, row.resource, row.permission])).toEqual([
    ['readers', '<all keyspaces>', 'SELECT'],
  ]);
  await admin.execute('DROP ROLE readers');
  await expect(bob.execute('SELECT * FROM k.t')).rejects.toThrow(/no SELECT permission/);
});

test('who makes a table owns it, and a table that is gone has no permissions', async () => {
  await admin.execute('GRANT CREATE ON KEYSPACE k TO ann');
  const ann = await connectAs('ann', 'secret');
  await ann.execute('CREATE TABLE k.own (a int PRIMARY KEY)');
  await ann.execute('INSERT INTO k.own (a) VALUES (1)');
  expect((await ann.execute('SELECT * FROM k.own')).rowLength).toBe(1);
  await ann.execute('DROP TABLE k.own');
  const left = await admin.execute("SELECT * FROM system_auth.role_permissions WHERE role = 'ann'");
  expect(left.rows.map((row) => row.resource).sort()).toEqual(['data/k']);
});

test.each([
  ['ann', 'wrong'],
  ['nobody', 'secret'],
  ['cassandra', 'wrong'],
  [ACCOUNT, 'secret'],
])('%s with the password %s is refused', async (username, password) => {
  await expect(connectAs(username, password)).rejects.toMatchObject({
    innerErrors: expect.objectContaining({}),
  });
});

test('the superuser of a new Cassandra logs in where a flag allows it', async () => {
  const client = await connectAs('cassandra', 'cassandra');
  const { rows } = await client.execute('LIST USERS');
  expect(rows.map((row) => [row.name, row.super])).toContainEqual(['cassandra', true]);
  await expect(client.execute('DROP ROLE cassandra')).rejects.toThrow(
    'Cannot DROP primary role for current login',
  );
});

test('a key that only reads changes nothing, not even roles', async () => {
  const reader = await connectAs(ACCOUNT, READ_KEY);
  expect((await reader.execute('SELECT * FROM k.t')).rowLength).toBe(1);
  for (const statement of [
    'TRUNCATE k.t',
    "CREATE ROLE x WITH PASSWORD = 'x'",
    'GRANT SELECT ON k.t TO ann',
    'DROP KEYSPACE k',
  ])
    await expect(reader.execute(statement)).rejects.toMatchObject({ code: 0x2100 });
});

test('without login everybody is the account; with keys alone there is no default role', async () => {
  const open = await startServer({ loginMode: 'none' });
  const closed = await startServer();
  try {
    const client = await open.connect({ credentials: { username: 'any', password: 'body' } });
    await client.execute(
      "CREATE KEYSPACE o WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}",
    );
    const credentials = { username: 'cassandra', password: 'cassandra' };
    await expect(closed.connect({ credentials })).rejects.toThrow();
    await closed.connect({ credentials: { username: ACCOUNT, password: KEY } });
  } finally {
    await open.close();
    await closed.close();
  }
});
