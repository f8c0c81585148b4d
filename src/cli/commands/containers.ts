/** `container list|show|create|scale|delete` */
import { property, send, sendFeed } from '../client.ts';
import type { Command } from '../command.ts';
import { CommandError } from '../command-error.ts';
import { containerPath } from '../names.ts';
import { MODE, printScaled, scale } from '../scale.ts';
import { printTable } from '../table.ts';
import { printPartitions } from './partitions.ts';

export const CONTAINER_COMMANDS: readonly Command[] = [
  {
    words: 'container list',
    usage: 'DB',
    help: 'list the containers of a database',
    arguments: [1, 1],
    async run({ client, arguments: [db = ''], output }) {
      const containers = await sendFeed(client, ['dbs', db, 'colls'], 'DocumentCollections');
      output.show(containers, () =>
        printTable([
          ['container', 'partition key'],
          ...containers.map((entry) => [String(property(entry, 'id')), printKey(entry)]),
        ]),
      );
    },
  },
  {
    words: 'container show',
    usage: 'DB/CONTAINER',
    help: 'show a container with its policies',
    arguments: [1, 1],
    async run({ client, arguments: [name = ''], output }) {
      const { body } = await send(client, { verb: 'GET', path: containerPath(name) });
      output.show(body, () => `${JSON.stringify(body, undefined, 2)}\n`);
    },
  },
  {
    words: 'container create',
    usage: 'DB/CONTAINER --partition-key /PATH [--throughput RU]',
    help: 'create a container',
    arguments: [1, 1],
    options: {
      'partition-key': {
        value: '/PATH',
        help: 'path of the partition key; up to three times for a hierarchical one [/id]',
        multiple: true,
      },
      throughput: { value: 'RU', help: 'RU/s of the container' },
    },
    async run({ client, arguments: [name = ''], option, output }) {
      const path = containerPath(name);
      const [throughput] = option('throughput');
      const { body } = await send(client, {
        verb: 'POST',
        path: path.slice(0, -1),
        headers: throughput === undefined ? {} : { 'x-ms-offer-throughput': throughput },
        body: JSON.stringify({
          id: path.at(-1),
          partitionKey: keyDefinition(option('partition-key')),
        }),
      });
      output.show(body, () => `created container ${name}, partition key ${printKey(body)}\n`);
    },
  },
  {
    words: 'container scale',
    usage: 'DB/CONTAINER RU [--mode MODE]',
    help: 'change the throughput of a container while it serves',
    arguments: [2, 2],
    options: { mode: MODE },
    async run({ client, arguments: [name = '', throughput = ''], option, output }) {
      const [mode] = option('mode');
      const { body } = await send(client, { verb: 'GET', path: containerPath(name) });
      const scaled = await scale(client, body, { throughput, mode });
      output.show(scaled.offer, () => printScaled(`container ${name}`, scaled));
    },
  },
  {
    words: 'container distribute',
    usage: 'DB/CONTAINER [PARTITION=RU ...]',
    help: 'give partitions more or less of the throughput; without any, all the same',
    arguments: [1, 1000],
    async run({ client, arguments: [name = '', ...shares], output }) {
      const [, db = '', , container = ''] = containerPath(name);
      const partitions = Object.fromEntries(shares.map(parseShare));
      const { body } = await send(client, {
        verb: 'POST',
        path: ['_mesocosm', 'distribution'],
        query: { db, container },
        body: JSON.stringify({ partitions }),
      });
      output.show(body, () => printPartitions(property(body, 'partitions')));
    },
  },
  {
    words: 'container delete',
    usage: 'DB/CONTAINER',
    help: 'delete a container with all its items',
    arguments: [1, 1],
    async run({ client, arguments: [name = ''], output }) {
      await send(client, { verb: 'DELETE', path: containerPath(name) });
      output.show({ deleted: name }, () => `deleted container ${name}\n`);
    },
  },
];

function parseShare(text: string): [string, number] {
  const match = /^(\d+)=(\d+)$/.exec(text);
  if (match === null)
    throw new CommandError(2, `${JSON.stringify(text)}: a share is PARTITION=RU, such as 3=6000.`);
  return [match[1] as string, Number(match[2])];
}

function keyDefinition(paths: readonly string[]): object {
  if (paths.length > 1) return { paths, kind: 'MultiHash', version: 2 };
  return { paths: paths.length === 0 ? ['/id'] : paths, kind: 'Hash', version: 2 };
}

function printKey(container: unknown): string {
  const paths = property(property(container, 'partitionKey'), 'paths');
  return Array.isArray(paths) ? paths.join(', ') : '-';
}
