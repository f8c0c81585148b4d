/** Goal: the stock MongoDB drivers of Python, Go and Java over TLS. Method: a tour each, with pinned packages. */
import { join } from 'node:path';
import { test } from 'vitest';
import type { ChildServer } from '../server/child-server.ts';
import { here, type Toolchain } from './toolchain.ts';
import { take } from './tour.ts';

const folder = join(here, 'mongo');
const COPY = 'org.apache.maven.plugins:maven-dependency-plugin:3.8.1:copy-dependencies';
const PROBE = 'import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 10))';

const STEPS = [
  'connect',
  'documents',
  'cursors',
  'updates',
  'bulk',
  'indexes',
  'aggregate',
  'transaction',
  'change stream',
  'files',
  'refused',
  'wrong key',
  'drop',
];

function pythonOf(packages: string): string {
  return join(packages, 'bin', 'python');
}

function pipInstall(packages: string): readonly string[] {
  const pins = join(folder, 'python/requirements.txt');
  return [pythonOf(packages), '-m', 'pip', 'install', '--retries', '2', '--quiet', '-r', pins];
}

const python: Toolchain = {
  language: 'mongo-python',
  needs: { 'Python of 3.10 or later with venv and pip': ['python3', '-c', PROBE] },
  pins: 'mongo/python/requirements.txt',
  install: (packages) => [['python3', '-m', 'venv', packages], pipInstall(packages)],
  env: { PYTHONDONTWRITEBYTECODE: '1' },
};

const go: Toolchain = {
  language: 'mongo-go',
  needs: { Go: ['go', 'version'] },
  pins: 'mongo/go/go.sum',
  install: () => [['go', 'mod', 'download', '-C', join(folder, 'go')]],
};

const java: Toolchain = {
  language: 'mongo-java',
  needs: {
    'JDK of 17 or later': ['javac', '--release', '17', '-version'],
    Maven: ['mvn', '-version'],
  },
  pins: 'mongo/java/pom.xml',
  install: (packages) => [
    ['mvn', '-q', '-B', '-f', join(folder, 'java/pom.xml'), COPY, `-DoutputDirectory=${packages}`],
  ],
};

/** The address without a scheme and a path, as the tours take it. */
function endpoint(server: ChildServer): string {
  return new URL(String(server.ready.endpoints.mongo)).host;
}

test('pymongo tours the MongoDB API with zlib', async (context) => {
  const command = (packages: string) => [pythonOf(packages), join(folder, 'python/tour.py')];
  await take({ chain: python, command, endpoint, steps: STEPS }, context);
});

test('the Go driver tours the MongoDB API with zstd', async (context) => {
  const command = () => ['go', 'run', '-C', join(folder, 'go'), '.'];
  await take({ chain: go, command, endpoint, steps: STEPS }, context);
});

test('the Java driver tours the MongoDB API with snappy', async (context) => {
  const source = join(folder, 'java/Tour.java');
  const command = (packages: string) => ['java', '-cp', join(packages, '*'), source];
  await take({ chain: java, command, endpoint, steps: STEPS }, context);
});
