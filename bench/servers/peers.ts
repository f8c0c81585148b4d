/** What the bench compares with: installed from the network once, no dependency of the project. */
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const PEERS = fileURLToPath(new URL('../peers', import.meta.url));

export function installPeers(): void {
  if (existsSync(join(PEERS, 'node_modules/@vercel/cosmosdb-server'))) return;
  console.log('installing what is compared with (once)');
  const args = ['install', '--no-package-lock', '--loglevel=error'];
  const { status } = spawnSync('npm', args, { cwd: PEERS, stdio: 'inherit' });
  if (status !== 0)
    throw new Error('bench/peers cannot be installed; npm run bench takes --no-peer');
}
