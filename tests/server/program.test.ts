// Goal: the program tells what it can do and refuses in one line what it cannot. Method: run it to its end.
import { mkdirSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { runProgram, temporaryFolder } from './child-server.ts';

test.each([[[]], [['--help']], [['help']]])('%j prints the help text', async (args) => {
  const { code, stdout, stderr } = await runProgram(args);
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  expect(stdout).toContain('mesocosm start');
  expect(stdout).toContain('partitions');
});

test('--version', async () => {
  const { code, stdout } = await runProgram(['--version']);
  expect({ code, stdout }).toEqual({ code: 0, stdout: '0.1.0\n' });
});

test('start --help lists the flags', async () => {
  const { code, stdout } = await runProgram(['start', '--help']);
  expect(code).toBe(0);
  expect(stdout).toContain('--partition-storage-limit BYTES');
});

test.each<[string[], string]>([
  [['help', 'start'], '--partition-storage-limit BYTES'],
  [['help', 'query'], 'Usage: mesocosm query DB/CONTAINER QUERY'],
  [['help', 'db', 'create'], 'Usage: mesocosm db create '],
  [['help', 'db'], 'Usage: mesocosm db COMMAND [flags]\n\n  db list '],
  [['db', '--help'], 'Usage: mesocosm db COMMAND [flags]\n\n  db list '],
  [['partitions', '--help'], 'Usage: mesocosm partitions DB/CONTAINER'],
])('%j shows the help of that command', async (args, text) => {
  const { code, stdout, stderr } = await runProgram(args);
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  expect(stdout).toContain(text);
});

test.each<[string[], string]>([
  [['strat'], 'mesocosm: there is no command "strat". See mesocosm --help.\n'],
  [['help', 'strat'], 'mesocosm: there is no command "strat". See mesocosm --help.\n'],
  [['db'], 'mesocosm: say one of: db list, db show, db create, db scale, db delete.\n'],
  [['db', 'show'], 'mesocosm: usage: mesocosm db show DB\n'],
  [['db', 'list', '--jsn'], "mesocosm: Unknown option '--jsn'. See mesocosm db list --help.\n"],
  [['start', '--nosql-port', 'x'], 'mesocosm: --nosql-port "x": allowed is 0 to 65535, or off.\n'],
])('%j is used wrongly', async (args, stderr) => {
  const exit = await runProgram(args);
  expect(exit).toMatchObject({ code: 2, stdout: '', stderr });
});

test('another address than loopback needs a key of your own', async () => {
  const { code, stderr } = await runProgram(['start', '--memory', '--host', '0.0.0.0']);
  expect(code).toBe(2);
  expect(stderr).toContain('the default key is public knowledge');
  expect(stderr).toContain('--key');
});

test('a port in use is named with its flag', async () => {
  const other = createServer();
  await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve));
  const { port } = other.address() as AddressInfo;
  const data = join(temporaryFolder(), 'data');
  const { code, stderr } = await runProgram([
    'start',
    '--data',
    data,
    '--nosql-port',
    `${port}`,
    '--table-port',
    '0',
  ]);
  other.close();
  expect({ code, stderr }).toEqual({
    code: 1,
    stderr: `mesocosm: port ${port} on 127.0.0.1 is in use. Choose another with --nosql-port (0 = any free port, off = not served).\n`,
  });
});

test('an address that is not of this machine is refused', async () => {
  const flags = [
    'start',
    '--memory',
    '--host',
    '192.0.2.1',
    '--key',
    Buffer.alloc(32, 'x').toString('base64'),
    '--nosql-port',
    '0',
    '--table-port',
    '0',
  ];
  const { code, stderr } = await runProgram(flags);
  expect(code).toBe(1);
  expect(stderr).toBe(
    'mesocosm: 192.0.2.1 is no address of this machine. Choose another with --host.\n',
  );
});

test('data of an unknown format version is refused', async () => {
  const data = join(temporaryFolder(), 'data');
  mkdirSync(data);
  writeFileSync(join(data, 'format.json'), '{"product":"mesocosm","format":2}');
  const { code, stderr } = await runProgram([
    'start',
    '--data',
    data,
    '--nosql-port',
    '0',
    '--table-port',
    '0',
  ]);
  expect(code).toBe(1);
  expect(stderr).toContain('has data format version 2; this program understands: 1.');
});

test('a server that cannot be reached is said to be so', async () => {
  const { code, stderr } = await runProgram(['db', 'list', '--endpoint', 'http://127.0.0.1:9/']);
  expect(code).toBe(1);
  expect(stderr).toContain('mesocosm: cannot reach http://127.0.0.1:9/');
  expect(stderr).toContain('Is the server started');
});
