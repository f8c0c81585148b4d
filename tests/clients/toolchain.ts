/**
 * What a tour needs on the machine: the commands of its language, and the client's packages, installed once by the
 * language's own package manager into a cache. A machine that lacks either gets a reason instead, and the tour is
 * reported as not run; an installation that fails for any other reason than the network fails the test.
 */
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The folder of this file, and a cache that goes with the installed packages of this repository. */
export const here = fileURLToPath(new URL('./', import.meta.url));
const cache = fileURLToPath(new URL('../../node_modules/.cache/clients/', import.meta.url));

/** Messages of package managers on a machine without a working network. */
const WITHOUT_NETWORK =
  /no such host|name resolution|Name or service not known|Could not resolve|UnknownHost|Unknown host|ConnectionError|NewConnectionError|Failed to establish a new connection|connection refused|network is unreachable|no route to host|timed out|i\/o timeout|Could not transfer artifact|offline/i;

const PROBE_MS = 30_000;
const INSTALL_MS = 150_000;
const REASON_LENGTH_MAX = 200;

export interface Toolchain {
  readonly language: string;
  /** A tool of the language, and a command that succeeds where it is installed. */
  readonly needs: Readonly<Record<string, readonly string[]>>;
  /** The file that pins the packages: another content is another folder. */
  readonly pins: string;
  /** Run one after the other; `folder` is where the packages go. */
  readonly install: (folder: string) => readonly (readonly string[])[];
  readonly env?: Readonly<Record<string, string>>;
}

export interface Outcome {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export type Installed = { readonly folder: string } | { readonly missing: string };

const installations = new Map<Toolchain, Promise<Installed>>();

/** The folder of the packages, or why there is none. What was tried once is not tried again by the tests of a file. */
export function installed(chain: Toolchain): Promise<Installed> {
  let installation = installations.get(chain);
  if (installation === undefined) {
    installation = install(chain);
    installations.set(chain, installation);
  }
  return installation;
}

async function install(chain: Toolchain): Promise<Installed> {
  for (const [need, probe] of Object.entries(chain.needs))
    if (!(await succeeds(probe))) return { missing: `no ${need} on this machine` };
  const pins = readFileSync(join(here, chain.pins));
  const name = createHash('sha256').update(pins).digest('hex').slice(0, 12);
  const folder = join(cache, `${chain.language}-${name}`);
  const complete = join(folder, 'complete');
  if (existsSync(complete)) return { folder };
  // The remains of an interrupted installation are not used.
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  for (const command of chain.install(folder)) {
    const outcome = await run(command, { env: chain.env ?? {}, timeoutMs: INSTALL_MS });
    if (outcome.code === 0) continue;
    if (outcome.code === null) return { missing: `packages not there within ${INSTALL_MS} ms` };
    const said = `${outcome.stdout}\n${outcome.stderr}`;
    const cause = said.split('\n').find((line) => WITHOUT_NETWORK.test(line));
    if (cause === undefined) throw new Error(`${command.join(' ')} failed: ${said}`);
    const reason = cause.trim().slice(0, REASON_LENGTH_MAX);
    return { missing: `no network to install the packages: ${reason}` };
  }
  writeFileSync(complete, '');
  return { folder };
}

/** Runs a command to its end, or to the end of its time. */
export function run(
  [command, ...args]: readonly string[],
  options: { readonly env: Readonly<Record<string, string>>; readonly timeoutMs: number },
): Promise<Outcome> {
  const child = spawn(command as string, args, {
    cwd: here,
    env: { ...process.env, ...options.env },
    stdio: ['ignore', 'pipe', 'pipe'],
    timeout: options.timeoutMs,
    killSignal: 'SIGKILL',
  });
  let stdout = '';
  let stderr = '';
  child.stdout.on('data', (chunk) => {
    stdout += chunk;
  });
  child.stderr.on('data', (chunk) => {
    stderr += chunk;
  });
  return new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (code) => resolve({ code, stdout, stderr }));
  });
}

async function succeeds(probe: readonly string[]): Promise<boolean> {
  try {
    return (await run(probe, { env: {}, timeoutMs: PROBE_MS })).code === 0;
  } catch {
    // The command itself is not there.
    return false;
  }
}
