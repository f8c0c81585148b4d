/** Several writers with books at once, and what is found of what they wrote. */
import type { Agent } from 'node:http';
import { expect } from 'vitest';
import type { ChildServer } from '../server/child-server.ts';
import { send } from '../server/wire.ts';
import { BookWriter, until } from './world.ts';

const WRITERS = 4;

export function newWriters(name: string): readonly BookWriter[] {
  return Array.from({ length: WRITERS }, (_, number) => new BookWriter(`${name}${number}`));
}

export function startWriting(writers: readonly BookWriter[], node: ChildServer): Promise<unknown> {
  return Promise.all(writers.map((writer) => writer.write(node.port)));
}

export async function stopWriting(
  writers: readonly BookWriter[],
  writing: Promise<unknown>,
): Promise<void> {
  for (const writer of writers) writer.stop();
  await writing;
}

/** Waits until so many more writes were acknowledged. */
export function untilWritten(writers: readonly BookWriter[], count: number): Promise<void> {
  const total = () => writers.reduce((sum, { acknowledged }) => sum + acknowledged, 0);
  const goal = total() + count;
  return until(`${count} writes`, () => total() >= goal);
}

/** Writes until so many more writes were acknowledged. */
export async function writeMore(
  writers: readonly BookWriter[],
  node: ChildServer,
  count: number,
): Promise<void> {
  const writing = startWriting(writers, node);
  await untilWritten(writers, count);
  await stopWriting(writers, writing);
}

export async function countOf(port: number, agent: Agent): Promise<number> {
  const { status, body } = await send(port, agent, {
    verb: 'POST',
    path: ['dbs', 'd', 'colls', 'c', 'docs'],
    headers: {
      'x-ms-documentdb-isquery': 'true',
      'x-ms-documentdb-query-enablecrosspartition': 'true',
      'content-type': 'application/query+json',
    },
    body: JSON.stringify({ query: 'SELECT VALUE c.version FROM c WHERE c.version > 0' }),
  });
  expect(status).toBe(200);
  return JSON.parse(body).Documents.length;
}

export function statusesOf(writers: readonly BookWriter[]): readonly number[] {
  return [...new Set(writers.flatMap(({ statuses }) => [...statuses.keys()]))].sort();
}

export async function wrongInMemory(
  writers: readonly BookWriter[],
  port: number,
): Promise<readonly string[]> {
  return (await Promise.all(writers.map((writer) => writer.checkMemory(port)))).flat();
}

export async function wrongOf(
  writers: readonly BookWriter[],
  port: number,
): Promise<readonly string[]> {
  return (await Promise.all(writers.map((writer) => writer.check(port)))).flat();
}
