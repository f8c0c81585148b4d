// Goal: one command makes a replica set and a server on it, and ends both. Method: the built program.
import { chmodSync, existsSync, readFileSync } from 'node:fs';
import { Agent } from 'node:http';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { findBinaries } from '../../src/engine/postgres/local/binaries.ts';
import { reportMissing } from '../../src/engine/postgres/local/test-member.ts';
import { spawnProgram, temporaryFolder } from '../server/child-server.ts';
import { createContainer, put, until } from './world.ts';

const missing = await findBinaries().then(
  (binaries) => binaries.dispose(),
  (error: unknown) => error as Error,
);

if (missing instanceof Error) reportMissing(missing);
else
  test('demo-replicas serves from four members, replaces a dead primary, and stops them all', async () => {
    const folder = temporaryFolder();
    // The members may run as another user.
    chmodSync(folder, 0o755);
    const readyFile = join(temporaryFolder(), 'ready.json');
    const flags = ['--folder', join(folder, 'set'), '--ready-file', readyFile];
    const child = spawnProgram(['demo-replicas', ...flags], { MESOCOSM_THROUGHPUT: 'report' });
    let output = '';
    for (const stream of [child.stdout, child.stderr])
      stream?.on('data', (chunk) => {
        output += chunk;
      });
    const exit = new Promise((resolve) => child.on('close', resolve));
    try {
      await until('it is ready', () => existsSync(readyFile) || child.exitCode !== null);
      expect(child.exitCode, output).toBeNull();
      const pids = [...output.matchAll(/process (\d+)/g)].map(([, pid]) => Number(pid));
      expect(pids).toHaveLength(4);
      const { endpoints } = JSON.parse(readFileSync(readyFile, 'utf8'));
      const port = Number(new URL(endpoints.nosql).port);
      await createContainer(port);
      const agent = new Agent({ keepAlive: true });
      expect(await put(port, agent, 'a', 1)).toBe(201);
      process.kill(pids[0] as number, 'SIGKILL');
      await until('a standby is promoted', () => output.includes('is the primary now'));
      await until('writes go on', async () => (await put(port, agent, 'a', 2)) === 200);
      agent.destroy();
      child.kill('SIGINT');
      expect(await exit).toBe(0);
      await until('the members have ended', () => !pids.some(isAlive));
    } finally {
      child.kill('SIGKILL');
      await exit;
    }
  });

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
