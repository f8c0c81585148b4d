/** Goal: the stock Python clients of both APIs over TLS. Method: a tour each, with pinned packages in an environment of their own. */
import { join } from 'node:path';
import { test } from 'vitest';
import { here, type Toolchain } from './toolchain.ts';
import { NOSQL_STEPS, nosqlEndpoint, tablePort, take } from './tour.ts';

const PROBE = 'import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 10))';

const chain: Toolchain = {
  language: 'python',
  needs: {
    'Python of 3.10 or later with venv and pip': ['python3', '-c', PROBE],
  },
  pins: 'python/requirements.txt',
  install: (folder) => [
    ['python3', '-m', 'venv', folder],
    [
      pythonOf(folder),
      '-m',
      'pip',
      'install',
      '--retries',
      '2',
      '--quiet',
      '-r',
      join(here, 'python/requirements.txt'),
    ],
  ],
  env: { PYTHONDONTWRITEBYTECODE: '1' },
};

const TABLE_STEPS = [
  'create table',
  'types',
  'create and read',
  'update and merge',
  'upsert',
  'conditions',
  'delete',
  'query of one partition',
  'query of all partitions',
  'pages',
  'refused query',
  'batch',
  'batch undone',
  'signature',
  'wrong key',
  'delete table',
];

test('azure-cosmos tours the NoSQL API', async (context) => {
  await take(
    {
      chain,
      command: command('cosmos_tour.py'),
      endpoint: nosqlEndpoint,
      steps: ['certificate', 'account', ...NOSQL_STEPS],
    },
    context,
  );
});

test.for([
  ['Cosmos', (port: string) => `https://localhost:${port}`],
  ['Storage', (port: string) => `https://127.0.0.1:${port}/devstoreaccount1`],
] as const)('azure-data-tables tours the Table API in %s mode', async ([, endpointAt], context) => {
  await take(
    {
      chain,
      command: command('tables_tour.py'),
      endpoint: (server) => endpointAt(tablePort(server)),
      steps: TABLE_STEPS,
    },
    context,
  );
});

/** The Cosmos client warns about every request to localhost, which it does not verify. */
function command(program: string): (folder: string) => readonly string[] {
  return (folder) => [pythonOf(folder), '-W', 'ignore', join(here, 'python', program)];
}

function pythonOf(folder: string): string {
  return join(folder, 'bin', 'python');
}
