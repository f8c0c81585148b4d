#!/usr/bin/env node
// Runs the command line on the pinned runtime: in this process where it is new enough; else the runtime takes the place of
// this process where Node can do that (22.15, 23.11 and later); else it runs in a child, which ends with this process.
import { spawn } from 'node:child_process';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { stopWithParent } from './stop-with-parent.mjs';

const RUNTIME_MAJOR = 26;
/** Set for a child: it is watched over by nobody but this process. */
const CHILD_MARK = 'MESOCOSM_LAUNCHED';

const isServer = process.argv[2] === 'start';
const isChild = process.env[CHILD_MARK] !== undefined;
const isOfNpm = process.env.npm_lifecycle_event !== undefined;

if (isServer && (isChild || isOfNpm)) stopWithParent();
delete process.env[CHILD_MARK];

if (Number(process.versions.node.split('.')[0]) >= RUNTIME_MAJOR) {
  await import('../dist/server/main.js');
} else {
  const runtime = runtimePath();
  const args = [fileURLToPath(import.meta.url), ...process.argv.slice(2)];
  if (typeof process.execve === 'function' && process.platform !== 'win32')
    process.execve(runtime, [runtime, ...args], process.env);
  else runInChild(runtime, args);
}

function runtimePath() {
  const manifest = createRequire(import.meta.url).resolve('node/package.json');
  const name = process.platform === 'win32' ? 'node.exe' : 'node';
  return join(dirname(manifest), 'bin', name);
}

function runInChild(runtime, args) {
  const child = spawn(runtime, args, {
    stdio: 'inherit',
    env: { ...process.env, [CHILD_MARK]: '1' },
  });
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'])
    process.on(signal, () => child.kill(signal));
  child.on('exit', (code, signal) => process.exit(signal ? 1 : (code ?? 1)));
}
