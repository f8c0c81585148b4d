/** Goal: the stock Go client over TLS. Method: a tour, built once with the pinned module. */
import { join } from 'node:path';
import { test } from 'vitest';
import { here, type Toolchain } from './toolchain.ts';
import { NOSQL_STEPS, nosqlEndpoint, take } from './tour.ts';

const chain: Toolchain = {
  language: 'go',
  needs: { Go: ['go', 'version'] },
  pins: 'go/go.sum',
  install: () => [['go', 'mod', 'download', '-C', join(here, 'go')]],
};

test('azcosmos tours the NoSQL API', async (context) => {
  await take(
    {
      chain,
      command: () => ['go', 'run', '-C', join(here, 'go'), '.'],
      endpoint: nosqlEndpoint,
      steps: NOSQL_STEPS,
    },
    context,
  );
});
