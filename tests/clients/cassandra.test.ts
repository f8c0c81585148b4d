/** Goal: cqlsh and the stock drivers of Python, Go and Java over TLS. Method: a tour each, with pinned packages. */
import { join } from 'node:path';
import { test } from 'vitest';
import type { ChildServer } from '../server/child-server.ts';
import { here, type Toolchain } from './toolchain.ts';
import { take } from './tour.ts';

const folder = join(here, 'cassandra');
const COPY = 'org.apache.maven.plugins:maven-dependency-plugin:3.8.1:copy-dependencies';
const PROBE = 'import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 10))';

const COMMON = ['prepared', 'pages', 'batch', 'lightweight transaction', 'counter'];
const STEPS = ['connect', 'schema', ...COMMON, 'refused', 'wrong key'];

function pythonOf(packages: string): string {
  return join(packages, 'bin', 'python');
}

/** A virtual environment with the packages of a file. */
function pythonWith(language: string, requirements: string): Toolchain {
  const pip = ['-m', 'pip', 'install', '--retries', '2', '--quiet', '-r'];
  return {
    language,
    needs: { 'Python of 3.10 or later with venv and pip': ['python3', '-c', PROBE] },
    pins: `cassandra/${requirements}`,
    install: (packages) => [
      ['python3', '-m', 'venv', packages],
      [pythonOf(packages), ...pip, join(folder, requirements)],
    ],
    env: { PYTHONDONTWRITEBYTECODE: '1' },
  };
}

const python = pythonWith('cassandra-python', 'python/requirements.txt');
const cqlsh = pythonWith('cassandra-cqlsh', 'cqlsh/requirements.txt');

const go: Toolchain = {
  language: 'cassandra-go',
  needs: { Go: ['go', 'version'] },
  pins: 'cassandra/go/go.sum',
  // The driver is compiled here, so that the tour itself does not wait for it.
  install: (packages) => [
    ['go', 'mod', 'download', '-C', join(folder, 'go')],
    ['go', 'build', '-C', join(folder, 'go'), '-o', join(packages, 'tour'), '.'],
  ],
};

const java: Toolchain = {
  language: 'cassandra-java',
  needs: {
    'JDK of 17 or later': ['javac', '--release', '17', '-version'],
    Maven: ['mvn', '-version'],
  },
  pins: 'cassandra/java/pom.xml',
  install: (packages) => [
    ['mvn', '-q', '-B', '-f', join(folder, 'java/pom.xml'), COPY, `-DoutputDirectory=${packages}`],
  ],
};

/** The address without a scheme, as drivers take it. */
function endpoint(server: ChildServer): string {
  return String(server.ready.endpoints.cassandra).replace(/^\w+:\/\//, '');
}

test('the Python driver tours the Cassandra API with lz4 and protocol 5', async (context) => {
  const steps = STEPS.toSpliced(7, 0, 'schema change', 'tracing', 'charge');
  const command = (packages: string) => [pythonOf(packages), join(folder, 'python/tour.py')];
  await take({ chain: python, command, endpoint, steps }, context);
});

test('cqlsh connects, describes, pages, copies to and from a file, and traces', async (context) => {
  const steps = ['connect', 'describe', 'pages', 'copy', 'tracing'];
  const command = (packages: string) => [pythonOf(packages), join(folder, 'cqlsh/tour.py')];
  await take({ chain: cqlsh, command, endpoint, steps }, context);
});

test('gocql tours the Cassandra API with snappy and protocol 4', async (context) => {
  const command = () => ['go', 'run', '-C', join(folder, 'go'), '.'];
  await take({ chain: go, command, endpoint, steps: STEPS }, context);
});

test('the Java driver tours the Cassandra API with protocol 5', async (context) => {
  const command = (packages: string) => [
    'java',
    '-cp',
    join(packages, '*'),
    join(folder, 'java/Tour.java'),
  ];
  await take({ chain: java, command, endpoint, steps: STEPS }, context);
});
