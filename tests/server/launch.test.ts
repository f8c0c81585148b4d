// Goal: killing what was started kills the server, however it was started. Method: real processes, the strongest signal.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { ANY_PORTS, temporaryFolder } from './child-server.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const FLAGS = ['--memory'];

interface Launched {
  readonly started: ChildProcess;
  /** The process id of the server itself. */
  readonly pid: number;
}

async function launch(command: string, args: readonly string[]): Promise<Launched> {
  const readyFile = join(temporaryFolder(), 'ready.json');
  const started = spawn(command, [...args, ...FLAGS, '--ready-file', readyFile], {
    cwd: root,
    env: { ...process.env, ...ANY_PORTS },
    stdio: 'ignore',
  });
  while (!existsSync(readyFile)) {
    expect(started.exitCode).toBeNull();
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  return { started, pid: JSON.parse(readFileSync(readyFile, 'utf8')).pid };
}

/** Resolves when no process has the id; the limit of the test bounds the wait. */
async function isGone(pid: number): Promise<boolean> {
  for (;;) {
    try {
      process.kill(pid, 0);
    } catch {
      return true;
    }
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

const NPM = ['npm', ['start', '--']] as const;
const PROGRAM = ['node', ['bin/mesocosm.mjs', 'start']] as const;

test.each([
  [...NPM, 'SIGTERM'],
  [...NPM, 'SIGKILL'],
  [...PROGRAM, 'SIGTERM'],
  [...PROGRAM, 'SIGKILL'],
] as const)(
  '%s %j ended by %s ends the server',
  async (command, args, signal) => {
    const { started, pid } = await launch(command, args);
    const exit = once(started, 'exit');
    started.kill(signal);
    await exit;
    expect(await isGone(pid)).toBe(true);
  },
  60_000,
);

test.runIf(process.platform === 'linux')(
  'nothing but npm and a shell stays next to a server that npm started',
  async () => {
    const { started, pid } = await launch(...NPM);
    const commandOf = (id: number | string) =>
      readFileSync(`/proc/${id}/cmdline`, 'utf8').split('\0');
    try {
      // The parent of the server is the shell of npm, or npm itself.
      const parent = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ')[1] ?? '';
      expect(commandOf(parent).join(' ')).toMatch(/^(?:sh|npm)\b/);
      expect(commandOf(pid)[1]).toBe('bin/mesocosm.mjs');
    } finally {
      started.kill('SIGTERM');
      await isGone(pid);
    }
  },
  60_000,
);
