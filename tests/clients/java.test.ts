/** Goal: the stock Java client in gateway mode over TLS. Method: a tour, run from its source with the pinned packages. */
import { join } from 'node:path';
import { test } from 'vitest';
import { here, type Toolchain } from './toolchain.ts';
import { NOSQL_STEPS, nosqlEndpoint, take } from './tour.ts';

const COPY = 'org.apache.maven.plugins:maven-dependency-plugin:3.8.1:copy-dependencies';

const chain: Toolchain = {
  language: 'java',
  // The tour is run from its source, which takes the compiler.
  needs: {
    'JDK of 17 or later': ['javac', '--release', '17', '-version'],
    Maven: ['mvn', '-version'],
  },
  pins: 'java/pom.xml',
  install: (folder) => [
    ['mvn', '-q', '-B', '-f', join(here, 'java/pom.xml'), COPY, `-DoutputDirectory=${folder}`],
  ],
};

test('com.azure:azure-cosmos tours the NoSQL API in gateway mode', async (context) => {
  const batch = NOSQL_STEPS.indexOf('batch undone');
  await take(
    {
      chain,
      command: (folder) => ['java', '-cp', join(folder, '*'), join(here, 'java/Tour.java')],
      endpoint: nosqlEndpoint,
      steps: NOSQL_STEPS.toSpliced(batch + 1, 0, 'bulk'),
    },
    context,
  );
});
