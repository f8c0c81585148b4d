/** Goal: keys are rotated for good, by a command. Method: the built program, restarted on the same data. */
import { statSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { ChildServer, runProgram, temporaryFolder } from './child-server.ts';

const KEY = Buffer.from('a key of our own').toString('base64');

test('a rotated key counts at once and after a restart, the old one no more', async () => {
  const data = join(temporaryFolder(), 'data');
  const flags = ['--data', data, '--key', KEY];
  let rotated: string;
  let secondary: string;
  {
    await using server = await ChildServer.start(flags);
    const command = (key: string, ...words: string[]) =>
      runProgram([...words, '--endpoint', server.endpoint, '--key', key]);
    const listed = await command(KEY, 'keys', 'list', '--json');
    const keys = JSON.parse(listed.stdout) as Record<string, string>;
    expect(Object.keys(keys)).toEqual([
      'primary',
      'secondary',
      'primaryReadonly',
      'secondaryReadonly',
    ]);
    secondary = String(keys.secondary);
    expect((await command(String(keys.primaryReadonly), 'keys', 'list')).stderr).toContain('403');
    expect((await command(String(keys.primaryReadonly), 'db', 'list')).code).toBe(0);
    expect((await command(String(keys.primaryReadonly), 'db', 'create', 'x')).stderr).toContain(
      '403',
    );
    const done = await command(secondary, 'keys', 'rotate', 'primary');
    rotated = done.stdout.trim();
    expect((await command(KEY, 'db', 'list')).stderr).toContain('401');
    expect((await command(rotated, 'db', 'list')).code).toBe(0);
    expect((await command(rotated, 'keys', 'rotate', 'nothing')).stderr).toContain(
      'must be one of',
    );
    const { stderr } = await server.stop();
    expect(stderr).toContain(
      'accessRefused who="read-only key" from=127.0.0.1 method=POST path=/dbs',
    );
    expect(stderr).toContain(
      'accessRefused who="read-only key" from=127.0.0.1 method=GET path=/_mesocosm/keys',
    );
    for (const secret of [KEY, rotated, secondary]) expect(stderr).not.toContain(secret);
  }
  expect(statSync(join(data, 'access.json')).mode & 0o777).toBe(0o600);
  await using server = await ChildServer.start(flags);
  expect(server.ready.key).toBe(rotated);
  const listed = await runProgram([
    'db',
    'list',
    '--endpoint',
    server.endpoint,
    '--key',
    secondary,
  ]);
  expect(listed.code).toBe(0);
});
