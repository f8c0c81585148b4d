// Goal: quick to start, small and quiet when idle. Method: the best of some starts, because other tests run meanwhile.
// Figures are taken in the long run only: they say as much about the machine as about the server.
import { spawn } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { ANY_PORTS, ChildServer, temporaryFolder } from './child-server.ts';

const takesFigures = process.env.MESOCOSM_LONG !== undefined;
const START_MS_MAX = 1000;
const NPM_START_MS_MAX = 2500;
const STARTS_MAX = 12;
const IDLE_MEGABYTES_MAX = 150;
const IDLE_MS = 2000;
const IDLE_CPU_SHARE_MAX = 0.02;

test.runIf(takesFigures)('starts in under a second', async () => {
  const start = async () => {
    await using server = await ChildServer.start(['--data', join(temporaryFolder(), 'data')]);
    return server.startMs;
  };
  expect(await quickest(start, START_MS_MAX)).toBeLessThan(START_MS_MAX);
});

test.runIf(takesFigures)('takes little memory and no time when idle', async () => {
  await using server = await ChildServer.start(['--data', join(temporaryFolder(), 'data')]);
  await delay(500);
  const before = await readMetrics(server.endpoint);
  await delay(IDLE_MS);
  const after = await readMetrics(server.endpoint);
  expect(after.residentBytes / 2 ** 20).toBeLessThan(IDLE_MEGABYTES_MAX);
  expect((after.cpuSec - before.cpuSec) / (IDLE_MS / 1000)).toBeLessThan(IDLE_CPU_SHARE_MAX);
});

test.runIf(takesFigures)('npm start serves soon in a built tree', async () => {
  const start = async () => {
    const { startMs, pid, exit } = await npmStart();
    process.kill(pid, 'SIGTERM');
    expect(await exit).toBe(0);
    return startMs;
  };
  expect(await quickest(start, NPM_START_MS_MAX)).toBeLessThan(NPM_START_MS_MAX);
});

/** Measures several times, until other work does not disturb the figure. */
async function quickest(start: () => Promise<number>, enoughMs: number): Promise<number> {
  let bestMs = Number.POSITIVE_INFINITY;
  for (let at = 0; at < STARTS_MAX && bestMs >= enoughMs; at++)
    bestMs = Math.min(bestMs, await start());
  return bestMs;
}

test('npm start: a signal that npm gets stops the server', async () => {
  const { pid, npm } = await npmStart();
  npm.kill('SIGTERM');
  while (existsSync(`/proc/${pid}`)) await delay(20);
});

async function npmStart() {
  const root = fileURLToPath(new URL('../..', import.meta.url));
  const folder = temporaryFolder();
  const readyFile = join(folder, 'ready.json');
  const flags = ['--data', join(folder, 'data'), '--ready-file', readyFile];
  const startedMs = performance.now();
  const npm = spawn('npm', ['start', '--silent', '--', ...flags, '--quiet'], {
    cwd: root,
    env: { ...process.env, ...ANY_PORTS },
    stdio: 'ignore',
  });
  const exit = new Promise<number | null>((resolve) => npm.on('close', resolve));
  while (!existsSync(readyFile)) await delay(5);
  const startMs = performance.now() - startedMs;
  const { pid } = JSON.parse(readFileSync(readyFile, 'utf8')) as { pid: number };
  return { startMs, pid, npm, exit };
}

async function readMetrics(endpoint: string) {
  const text = await (await fetch(`${endpoint}_mesocosm/metrics`)).text();
  const value = (series: string): number =>
    Number(
      text
        .split('\n')
        .find((line) => line.startsWith(`${series} `))
        ?.split(' ')[1],
    );
  return {
    residentBytes: value('mesocosm_process_memory_bytes{kind="resident"}'),
    cpuSec: value('mesocosm_process_cpu_seconds_total'),
  };
}

function delay(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
