/** A tour: a program of another language runs its stock client against a server over TLS and prints what held. */
import { join } from 'node:path';
import { expect, type TestContext } from 'vitest';
import { ChildServer, temporaryFolder } from '../server/child-server.ts';
import { installed, run, type Toolchain } from './toolchain.ts';

const TOUR_MS = 120_000;

/** The steps of every NoSQL tour, in their order; some clients can do more. */
export const NOSQL_STEPS: readonly string[] = [
  'create database',
  'create container',
  'throughput',
  'create items',
  'read',
  'read many',
  'replace on condition',
  'upsert',
  'patch',
  'delete',
  'query of one partition',
  'query of all partitions',
  'pages',
  'order',
  'aggregates',
  'refused query',
  'change feed',
  'batch',
  'batch undone',
  'hierarchical key',
  'wrong key',
  'delete container and database',
];

export interface Tour {
  readonly chain: Toolchain;
  /** The command before endpoint, key and file of the authority. */
  readonly command: (folder: string) => readonly string[];
  readonly endpoint: (server: ChildServer) => string;
  readonly steps: readonly string[];
  /** What has to be there before the tour. */
  readonly prepare?: (server: ChildServer, authority: string) => Promise<void>;
}

/** Runs the tour against a new server, or reports why it cannot be run on this machine. */
export async function take(tour: Tour, context: TestContext): Promise<void> {
  const packages = await installed(tour.chain);
  if ('missing' in packages) {
    // Reporters count what is skipped, but not all of them print why.
    console.warn(`${context.task.name}: not run: ${packages.missing}`);
    return context.skip(packages.missing);
  }
  const data = join(temporaryFolder(), 'data');
  await using server = await ChildServer.start(['--tls', '--data', data]);
  const authority = join(data, 'tls', 'ca.pem');
  await tour.prepare?.(server, authority);
  const given = [tour.endpoint(server), server.ready.key, authority];
  const command = [...tour.command(packages.folder), ...given];
  const outcome = await run(command, { env: tour.chain.env ?? {}, timeoutMs: TOUR_MS });
  const steps = outcome.stdout.split('\n').filter((line) => line !== '');
  expect({ steps, code: outcome.code }, outcome.stderr).toEqual({ steps: tour.steps, code: 0 });
  // Nothing that a client did was an error of the server, and it still ends as it should.
  const exit = await server.stop();
  expect(exit.code, exit.stderr).toBe(0);
}

export function nosqlEndpoint(server: ChildServer): string {
  return `https://localhost:${server.port}/`;
}

export function tablePort(server: ChildServer): string {
  return new URL(String(server.ready.endpoints.table)).port;
}
