/** Before the tests that start the real program: build it where it is stale, as `npm start` does. */
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';

export function setup(): void {
  const bootstrap = fileURLToPath(new URL('../tools/bootstrap.mjs', import.meta.url));
  const { status } = spawnSync(process.execPath, [bootstrap, 'build'], { stdio: 'inherit' });
  if (status !== 0) throw new Error('the build failed');
}
