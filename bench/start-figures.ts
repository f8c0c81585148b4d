/** The time of a start, and memory and CPU of an idle server. */
import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { medianOf } from './compare.ts';
import { cpuMsOf, OTHER_PORTS } from './servers/processes.ts';

const STARTS = 5;
const SETTLE_MS = 2000;
const IDLE_MS = 10_000;

const root = fileURLToPath(new URL('..', import.meta.url));

export interface StartFigures {
  readonly npmStartMs: number;
  readonly startMs: number;
  readonly idleBytes: number;
  readonly idleCpuPercent: number;
}

export async function measureStart(): Promise<StartFigures> {
  const command = ['npm', 'start', '--silent', '--'];
  const npmStartMs = await medianStart(command);
  const program = [process.execPath, join(root, 'bin/mesocosm.mjs'), 'start'];
  const startMs = await medianStart(program);
  const running = await start(program);
  await delay(SETTLE_MS);
  const before = cpuMsOf(running.pid);
  await delay(IDLE_MS);
  const idleCpuPercent = ((cpuMsOf(running.pid) - before) / IDLE_MS) * 100;
  const idleBytes = residentBytes(running.pid);
  await running.stop();
  return { npmStartMs, startMs, idleBytes, idleCpuPercent };
}

async function medianStart(command: readonly string[]): Promise<number> {
  const times: number[] = [];
  for (let at = 0; at < STARTS; at++) {
    const running = await start(command);
    times.push(running.startMs);
    await running.stop();
  }
  return medianOf(times);
}

interface Running {
  readonly startMs: number;
  readonly pid: number;
  stop(): Promise<void>;
}

async function start([program = '', ...args]: readonly string[]): Promise<Running> {
  const folder = mkdtempSync(join(tmpdir(), 'mesocosm-bench-'));
  const readyFile = join(folder, 'ready.json');
  const flags = [
    '--data',
    join(folder, 'data'),
    '--nosql-port',
    '0',
    '--table-port',
    '0',
    ...OTHER_PORTS,
    '--ready-file',
    readyFile,
  ];
  const startedMs = performance.now();
  const child = spawn(program, [...args, ...flags, '--quiet'], { cwd: root, stdio: 'ignore' });
  while (!existsSync(readyFile)) {
    if (child.exitCode !== null) throw new Error(`start failed with code ${child.exitCode}`);
    await delay(2);
  }
  const startMs = performance.now() - startedMs;
  const { pid } = JSON.parse(readFileSync(readyFile, 'utf8')) as { pid: number };
  return {
    startMs,
    pid,
    async stop() {
      process.kill(pid, 'SIGTERM');
      await exitOf(child);
      rmSync(folder, { recursive: true });
    },
  };
}

function exitOf(child: ChildProcess): Promise<void> {
  return new Promise((resolve) => {
    if (child.exitCode !== null) resolve();
    else child.once('exit', () => resolve());
  });
}

function residentBytes(pid: number): number {
  const kilobytes = /VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1];
  return Number(kilobytes) * 1024;
}

function delay(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
