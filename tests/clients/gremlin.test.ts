// Goal: the stock Gremlin drivers of Python, Go and Java over TLS. Method: a tour each on a new graph, with pinned
// packages.
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { type ChildServer, runProgram } from '../server/child-server.ts';
import { here, type Toolchain } from './toolchain.ts';
import { take } from './tour.ts';

const folder = join(here, 'gremlin');
const requirements = join(folder, 'python/requirements.txt');
const COPY = 'org.apache.maven.plugins:maven-dependency-plugin:3.8.1:copy-dependencies';
const PROBE = 'import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 10))';

const STEPS = [
  'connect',
  'add by script',
  'add by bytecode',
  'neighbours',
  'paths',
  'batches',
  'upsert',
  'transaction',
  'drop',
  'refused',
  'wrong key',
];

function pythonOf(packages: string): string {
  return join(packages, 'bin', 'python');
}

const python: Toolchain = {
  language: 'gremlin-python',
  needs: { 'Python of 3.10 or later with venv and pip': ['python3', '-c', PROBE] },
  pins: 'gremlin/python/requirements.txt',
  install: (packages) => [
    ['python3', '-m', 'venv', packages],
    [pythonOf(packages), '-m', 'pip', 'install', '--retries', '2', '--quiet', '-r', requirements],
  ],
  env: { PYTHONDONTWRITEBYTECODE: '1' },
};

const go: Toolchain = {
  language: 'gremlin-go',
  needs: { Go: ['go', 'version'] },
  pins: 'gremlin/go/go.sum',
  install: () => [['go', 'mod', 'download', '-C', join(folder, 'go')]],
};

const java: Toolchain = {
  language: 'gremlin-java',
  needs: {
    'JDK of 17 or later': ['javac', '--release', '17', '-version'],
    Maven: ['mvn', '-version'],
  },
  pins: 'gremlin/java/pom.xml',
  install: (packages) => [
    ['mvn', '-q', '-B', '-f', join(folder, 'java/pom.xml'), COPY, `-DoutputDirectory=${packages}`],
  ],
};

/** The drivers have no call that makes a graph: a user has made one before, with the key `pk`. */
async function prepare(server: ChildServer, authority: string): Promise<void> {
  const access = ['--endpoint', server.endpoint, '--ca', authority];
  for (const command of [
    ['db', 'create', 'tour'],
    ['graph', 'create', 'tour/people', '--partition-key', '/pk'],
  ]) {
    const exit = await runProgram([...command, ...access]);
    expect(exit.code, exit.stderr).toBe(0);
  }
}

function endpoint(server: ChildServer): string {
  const { port } = new URL(String(server.ready.endpoints.gremlin));
  return `wss://localhost:${port}/gremlin`;
}

test('gremlinpython tours the Gremlin API with GraphBinary', async (context) => {
  const command = (packages: string) => [pythonOf(packages), join(folder, 'python/tour.py')];
  await take({ chain: python, command, endpoint, prepare, steps: STEPS }, context);
});

test('gremlin-go tours the Gremlin API with GraphBinary', async (context) => {
  const command = () => ['go', 'run', '-C', join(folder, 'go'), '.'];
  await take({ chain: go, command, endpoint, prepare, steps: STEPS }, context);
});

test('gremlin-driver of Java tours the Gremlin API with GraphBinary', async (context) => {
  const command = (packages: string) => [
    'java',
    '-cp',
    join(packages, '*'),
    join(folder, 'java/Tour.java'),
  ];
  await take({ chain: java, command, endpoint, prepare, steps: STEPS }, context);
});
