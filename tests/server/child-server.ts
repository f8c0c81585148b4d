/** The built program as a child process. Whatever a test starts is ended with the test. */
import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../..', import.meta.url));
const runtime = join(root, 'node_modules/node/bin/node');
const program = join(root, 'dist/server/main.js');

/** Much more than it takes: a machine may have a lot to do besides. */
const READY_MS = 120_000;

/** Every API on any free port, where a flag does not say otherwise: tests run at the same time. */
export const ANY_PORTS: Readonly<Record<string, string>> = Object.fromEntries(
  ['NOSQL', 'TABLE', 'MONGO', 'CASSANDRA', 'GREMLIN', 'PORTAL'].map((api) => [
    `MESOCOSM_${api}_PORT`,
    '0',
  ]),
);

export interface Exit {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface ReadyState {
  readonly pid: number;
  readonly endpoints: Readonly<Record<string, string | null>>;
  readonly key: string;
}

/** Runs the program to its end. */
export function runProgram(
  args: readonly string[],
  options: { readonly input?: string; readonly env?: Readonly<Record<string, string>> } = {},
): Promise<Exit> {
  const child = spawnProgram(args, options.env ?? {});
  child.stdin?.end(options.input ?? '');
  return exitOf(child);
}

/** Kills a server this long after its process began. */
export async function killWhileStarting(flags: readonly string[], afterMs: number): Promise<void> {
  const child = spawnProgram(['start', ...flags], {});
  const exit = exitOf(child);
  await new Promise((resolve) => setTimeout(resolve, afterMs));
  child.kill('SIGKILL');
  await exit;
}

export class ChildServer implements AsyncDisposable {
  readonly ready: ReadyState;
  readonly readyFile: string;
  /** From start of the process to the ready file. */
  readonly startMs: number;
  readonly exit: Promise<Exit>;
  readonly #child: ChildProcess;

  private constructor(
    child: ChildProcess,
    exit: Promise<Exit>,
    readyFile: string,
    startMs: number,
  ) {
    this.#child = child;
    this.exit = exit;
    this.readyFile = readyFile;
    this.startMs = startMs;
    this.ready = JSON.parse(readFileSync(readyFile, 'utf8'));
  }

  /** Resolves when the ready file is there. Nothing is throttled unless the flags say so. */
  static async start(
    flags: readonly string[],
    env: Readonly<Record<string, string>> = {},
    openFilesMax?: number,
  ): Promise<ChildServer> {
    const readyFile = join(temporaryFolder(), 'ready.json');
    const startedMs = performance.now();
    const child = spawnProgram(
      ['start', '--ready-file', readyFile, ...flags],
      { MESOCOSM_THROUGHPUT: 'report', ...env },
      openFilesMax,
    );
    const exit = exitOf(child);
    let ended: Exit | undefined;
    void exit.then((how) => {
      ended = how;
    });
    while (!existsSync(readyFile)) {
      if (ended !== undefined) throw new Error(`the server ended: ${JSON.stringify(ended)}`);
      if (performance.now() - startedMs > READY_MS) throw new Error('the server is not ready');
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
    return new ChildServer(child, exit, readyFile, performance.now() - startedMs);
  }

  get endpoint(): string {
    return String(this.ready.endpoints.nosql);
  }

  get port(): number {
    return Number(new URL(this.endpoint).port);
  }

  signal(signal: NodeJS.Signals): void {
    this.#child.kill(signal);
  }

  stop(signal: NodeJS.Signals = 'SIGTERM'): Promise<Exit> {
    this.signal(signal);
    return this.exit;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#child.kill('SIGKILL');
    await this.exit;
  }
}

const folders: string[] = [];
process.on('exit', () => {
  for (const folder of folders) rmSync(folder, { recursive: true, force: true });
});

/** A folder that goes with the process of the test. */
export function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'mesocosm-test-'));
  folders.push(folder);
  return folder;
}

/** The program as a process of its own; the caller ends it. */
export function spawnProgram(
  args: readonly string[],
  env: Readonly<Record<string, string>>,
  openFilesMax?: number,
): ChildProcess {
  const { PATH = '', HOME = '' } = process.env;
  const options = { env: { PATH, HOME, ...ANY_PORTS, ...env } };
  if (openFilesMax === undefined) return spawn(runtime, [program, ...args], options);
  const limited = `ulimit -n ${openFilesMax} && exec "$0" "$@"`;
  return spawn('/bin/sh', ['-c', limited, runtime, program, ...args], options);
}

function exitOf(child: ChildProcess): Promise<Exit> {
  let stdout = '';
  let stderr = '';
  child.stdout?.on('data', (chunk) => {
    stdout += chunk;
  });
  child.stderr?.on('data', (chunk) => {
    stderr += chunk;
  });
  return new Promise((resolve) => {
    child.on('close', (code, signal) => resolve({ code, signal, stdout, stderr }));
  });
}
