/** Goal: the stock client's own credentials, over TLS as it wants them. Method: the built program that takes any identity, with roles from a file. */
import { writeFileSync } from 'node:fs';
import { Agent } from 'node:https';
import { join } from 'node:path';
import { CosmosClient } from '@azure/cosmos';
import { expect, test } from 'vitest';
import { ChildServer, runProgram, temporaryFolder } from './child-server.ts';

/** A well-formed token without a valid signature. */
function tokenOf(oid: string): string {
  const exp = Math.floor(Date.now() / 1000) + 3600;
  const parts = [
    { alg: 'RS256', typ: 'JWT' },
    { oid, exp },
  ];
  const texts = parts.map((part) => Buffer.from(JSON.stringify(part)).toString('base64url'));
  return `${texts.join('.')}.c2lnbmF0dXJl`;
}

test('credentials of an identity, with a role of its own', async () => {
  const roles = join(temporaryFolder(), 'roles.json');
  const assignment = {
    roleDefinitionId: '/subscriptions/x/sqlRoleDefinitions/00000000-0000-0000-0000-000000000001',
    principalId: 'rita',
    scope: '/dbs/shop',
  };
  writeFileSync(roles, JSON.stringify({ assignments: [assignment] }));
  const flags = ['--memory', '--tls', '--identity-any', '--roles', roles];
  await using server = await ChildServer.start(flags);
  const ca = await (await fetch(`http://localhost:${server.port}/_mesocosm/ca.pem`)).text();
  const agent = new Agent({ ca, keepAlive: true });
  const endpoint = `https://localhost:${server.port}`;
  const connectionPolicy = { enableBackgroundEndpointRefreshing: false };
  const owner = new CosmosClient({ endpoint, key: server.ready.key, agent, connectionPolicy });
  const { database } = await owner.databases.create({ id: 'shop' });
  const { container } = await database.containers.create({ id: 'orders', partitionKey: '/id' });
  await container.items.create({ id: '1' });
  const clientOf = (oid: string) =>
    new CosmosClient({
      endpoint,
      agent,
      connectionPolicy,
      aadCredentials: {
        getToken: async () => ({ token: tokenOf(oid), expiresOnTimestamp: Date.now() + 3600_000 }),
      },
    });
  const rita = clientOf('rita');
  const read = await rita.database('shop').container('orders').item('1', '1').read();
  expect(read.resource?.id).toBe('1');
  await expect(
    rita.database('shop').container('orders').items.create({ id: '2' }),
  ).rejects.toMatchObject({ code: 403 });
  const nobody = clientOf('nobody').database('shop').container('orders').item('1', '1').read();
  await expect(nobody).rejects.toMatchObject({ code: 403 });
  for (const client of [owner, rita]) client.dispose();
  agent.destroy();
});

test('a file of roles that says nothing is refused with a reason', async () => {
  const file = join(temporaryFolder(), 'roles.json');
  writeFileSync(file, JSON.stringify({ assignments: [{ principalId: 'rita' }] }));
  const flags = ['--memory', '--nosql-port', '0', '--table-port', '0', '--roles', file];
  const exit = await runProgram(['start', ...flags]);
  expect(exit.code).toBe(2);
  expect(exit.stderr).toContain('each assignment needs roleDefinitionId, principalId and a scope');
});
