// Goal: the README's tours work as written, and again. Method: its JavaScript is cut out and run against a server, twice.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { ChildServer, runProgram } from './child-server.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const readme = readFileSync(`${root}README.md`, 'utf8');
const tours = [...readme.matchAll(/^```js\n(.*?)^```/gms)].map(([, code = '']) => code);

/** The output of a tour; only the ports differ from the README. */
async function run(code: string, server: ChildServer): Promise<string> {
  const tablePort = new URL(String(server.ready.endpoints.table)).port;
  const gremlinPort = new URL(String(server.ready.endpoints.gremlin)).port;
  const mongoPort = new URL(String(server.ready.endpoints.mongo)).port;
  const cassandraPort = /:(\d+)/.exec(String(server.ready.endpoints.cassandra))?.[1];
  const here = code
    .replaceAll(':8081', `:${server.port}`)
    .replaceAll(':8901', `:${gremlinPort}`)
    .replaceAll(':8902', `:${tablePort}`)
    .replaceAll(':10255', `:${mongoPort}`)
    .replaceAll(':10350', `:${cassandraPort}`);
  // Packages are looked for from the folder that the program runs in.
  const child = spawn(process.execPath, ['--input-type=module', '--eval', here], { cwd: root });
  const [stdout, stderr, [exitCode]] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    once(child, 'exit'),
  ]);
  expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' });
  return stdout;
}

test('the tours of the README are run twice', async () => {
  // As users start it: throughput is enforced.
  const env = { MESOCOSM_THROUGHPUT: 'enforce' };
  await using server = await ChildServer.start(['--memory'], env);
  const [nosql = '', table = '', mongo = '', cassandra = '', graph = ''] = tours;
  expect(tours).toHaveLength(5);
  for (let time = 0; time < 2; time++) {
    const items = await run(nosql, server);
    expect(items).toContain("total: 12.5,\n  tags: [ 'new' ]");
    expect(items).toMatch(/} 1\n\[ { customer: 'alice', total: 12.5 } \]\n$/);
    const entities = await run(table, server);
    expect(entities.match(/rowKey: '1'/g)).toHaveLength(1);
    expect(entities).toContain('total: 12.5');
    expect(entities).toContain('paid: true');
    expect(await run(mongo, server)).toBe(
      "1 12.5 [ { sku: 'pen', count: 2 } ]\n2 8 [ { sku: 'ink' } ]\n" +
        "[ { _id: 'alice', total: 20.5 }, { _id: 'bob', total: 30 } ]\n2\n",
    );
    expect(await run(cassandra, server)).toBe(
      "1970-01-01T00:04:00.000Z /4 alice\n1970-01-01T00:03:00.000Z /3 alice\nRow { '[applied]': false, owner: 'alice' }\n",
    );
    expect(await run(graph, server)).toBe("[ 'ben' ]\n[ 2020 ]\n");
  }
});

test('the commands that the README shows for the tours work', async () => {
  await using server = await ChildServer.start(['--memory']);
  for (const tour of tours) await run(tour, server);
  const commands = [
    ...readme.matchAll(/npx mesocosm ((?:partitions|query) (?:"[^"]*"|[^`"\n])*)/g),
  ];
  expect(commands).toHaveLength(11);
  for (const [, line = ''] of commands) {
    const [command = ''] = line.split(' #');
    const args = [...command.matchAll(/"([^"]*)"|(\S+)/g)].map(
      ([, quoted, bare]) => quoted ?? bare,
    );
    const env = { MESOCOSM_ENDPOINT: server.endpoint };
    const exit = await runProgram(args as string[], { env });
    expect([line, exit.code, exit.stderr]).toEqual([line, 0, '']);
    expect(exit.stdout).not.toBe('');
  }
});
