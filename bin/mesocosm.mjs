#!/usr/bin/env node
// Runs the command line on the pinned runtime: in this process where it is new enough, else in a child.
import { spawn } from 'node:child_process';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const RUNTIME_MAJOR = 26;
const entry = new URL('../dist/server/main.js', import.meta.url);

if (Number(process.versions.node.split('.')[0]) >= RUNTIME_MAJOR) {
  await import(entry.href);
} else {
  const manifest = createRequire(import.meta.url).resolve('node/package.json');
  const runtime = join(
    dirname(manifest),
    'bin',
    process.platform === 'win32' ? 'node.exe' : 'node',
  );
  const child = spawn(runtime, [fileURLToPath(entry), ...process.argv.slice(2)], {
    stdio: 'inherit',
  });
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'])
    process.on(signal, () => child.kill(signal));
  child.on('exit', (code, signal) => process.exit(signal ? 1 : (code ?? 1)));
}
