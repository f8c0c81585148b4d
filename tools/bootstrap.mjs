// The door behind `npm start`, `npm test`, `npm run build`, `npm run bench` and `npm run screenshots`. It runs on any Node >= 20:
// installs what is missing, builds what is stale, then hands over to the pinned runtime (npm package `node`). `npm start`
// only prepares by it: the server is started by the shell, so that nothing but the server stays.
import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const at = (...parts) => join(root, ...parts);
const runtime = at(
  'node_modules',
  'node',
  'bin',
  process.platform === 'win32' ? 'node.exe' : 'node',
);

/** Runs one step with the terminal attached; a failing step ends the whole with its exit code. */
function step(command, args) {
  const result = spawnSync(command, args, { cwd: root, stdio: 'inherit' });
  if (result.error) {
    console.error(`mesocosm: cannot run ${command}: ${result.error.message}`);
    process.exit(1);
  }
  if (result.status !== 0) process.exit(result.status ?? 1);
}

function ensureInstalled() {
  if (isInstalled()) return;
  console.error('mesocosm: installing dependencies (once)');
  step(process.platform === 'win32' ? 'npm.cmd' : 'npm', [
    'install',
    '--no-save',
    '--loglevel=error',
  ]);
}

/** npm notes what it installed; nothing is missing when that is what package-lock.json asks for. */
function isInstalled() {
  const installedList = at('node_modules', '.package-lock.json');
  if (!existsSync(installedList) || !existsSync(runtime)) return false;
  const installed = JSON.parse(readFileSync(installedList, 'utf8')).packages;
  const wanted = JSON.parse(readFileSync(at('package-lock.json'), 'utf8')).packages;
  return Object.entries(wanted).every(
    ([path, { version, optional }]) =>
      path === '' || optional || installed[path]?.version === version,
  );
}

/** The page of the portal has a build of its own, so that neither waits for changes of the other. */
const page = at('src', 'portal', 'ui');

function newestChange(folder, isLeftOut = () => false) {
  let newest = 0;
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name);
    if (isLeftOut(path)) continue;
    const changed = entry.isDirectory() ? newestChange(path, isLeftOut) : statSync(path).mtimeMs;
    if (changed > newest) newest = changed;
  }
  return newest;
}

function ensureBuilt() {
  const sources = newestChange(at('src'), (path) => path === page);
  ifStale('.built', Math.max(sources, statSync(at('tsconfig.build.json')).mtimeMs), () =>
    step(runtime, [at('node_modules', 'typescript', 'bin', 'tsc'), '-p', 'tsconfig.build.json']),
  );
  ifStale(
    '.built-page',
    Math.max(newestChange(page), statSync(at('package-lock.json')).mtimeMs),
    () => step(runtime, [at('node_modules', 'vite', 'bin', 'vite.js'), 'build', page]),
  );
}

function ifStale(stampName, changedMs, build) {
  const stamp = at('dist', stampName);
  if (existsSync(stamp) && statSync(stamp).mtimeMs >= changedMs) return;
  build();
  writeFileSync(stamp, '');
}

const npmRun = (script) =>
  step(runtime, [process.env.npm_execpath ?? 'npm', 'run', '--silent', script]);

const [command, ...rest] = process.argv.slice(2);
ensureInstalled();
ensureBuilt();
if (command === 'start') {
  process.argv = [process.argv[0], at('bin', 'mesocosm.mjs'), 'start', ...rest];
  await import('../bin/mesocosm.mjs');
} else if (command === 'test') {
  npmRun('check');
  step(runtime, [at('node_modules', 'vitest', 'vitest.mjs'), 'run', ...rest]);
} else if (command === 'bench') {
  step(runtime, [at('bench', 'main.ts'), ...rest]);
} else if (command === 'screenshots') {
  step(runtime, [at('tests', 'portal', 'screenshots.ts')]);
}
