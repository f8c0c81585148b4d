/** `partitions DB/CONTAINER`: how a container's items spread over its partitions; `split` and `merge` change that. */
import { type ClientOptions, property, send } from '../client.ts';
import type { Command, Output } from '../command.ts';
import { containerPath } from '../names.ts';
import { printBar, printBytes, printTable } from '../table.ts';
import { printKeys } from './hot-keys.ts';

const BAR_WIDTH = 30;

export const PARTITION_COMMANDS: readonly Command[] = [
  {
    words: 'partitions',
    usage: 'DB/CONTAINER',
    help: 'show the partitions of a container: range, items, keys, request units, bytes, a bar each; hot keys; splits',
    arguments: [1, 1],
    async run({ client, arguments: [name = ''], output }) {
      const [, db = '', , container = ''] = containerPath(name);
      const { body } = await send(client, {
        verb: 'GET',
        path: ['_mesocosm', 'partitions'],
        query: { db, container },
      });
      const keys = await send(client, {
        verb: 'GET',
        path: ['_mesocosm', 'hot-keys'],
        query: { db, container },
      });
      output.show(
        { ...Object(body), hotKeys: keys.body },
        () =>
          printPartitions(property(body, 'partitions')) +
          printKeys(keys.body) +
          printStorage(body) +
          printSplits(property(body, 'splits')),
      );
    },
  },
  {
    words: 'split',
    usage: 'DB/CONTAINER PARTITION',
    help: 'split a partition in two, between two keys, while requests go on',
    arguments: [2, 2],
    options: {
      by: { value: 'bytes|heat', help: 'what each half gets half of; bytes if not given' },
    },
    run: ({ client, arguments: [name = '', partition = ''], option, output }) => {
      const [by = 'bytes'] = option('by');
      return resize(client, output, 'split', { name, more: { partition, by } });
    },
  },
  {
    words: 'merge',
    usage: 'DB/CONTAINER PARTITION PARTITION...',
    help: 'merge neighbouring partitions into one, while requests go on',
    arguments: [3, 100],
    run: ({ client, arguments: [name = '', ...partitions], output }) =>
      resize(client, output, 'merge', { name, more: { partitions } }),
  },
];

async function resize(
  client: ClientOptions,
  output: Output,
  verb: 'split' | 'merge',
  { name, more }: { readonly name: string; readonly more: object },
): Promise<void> {
  const [, db = '', , container = ''] = containerPath(name);
  const { body } = await send(client, {
    verb: 'POST',
    path: ['_mesocosm', verb],
    body: JSON.stringify({ db, container, ...more }),
  });
  const ids = (list: string) => [property(body, list) ?? []].flat().join(' and ');
  const done = verb === 'split' ? 'split' : 'merged';
  output.show(body, () => `${done} ${ids('parents')} of ${name} into ${ids('children')}\n`);
}

/** Where the partitions are kept: one line, and one for each replica where there are several. */
function printStorage(body: unknown): string {
  const quorum = property(body, 'quorum');
  if (quorum === undefined) return '';
  const counts = `${property(quorum, 'healthy')} healthy, a write needs ${property(quorum, 'needed')}`;
  const head = `\nengine ${property(body, 'engine')}, instance ${property(body, 'instance')}, replicas: ${counts}\n`;
  const replicas = property(body, 'replicas');
  if (!Array.isArray(replicas) || replicas.length < 2) return head;
  const table = printTable([
    ['replica', 'role', 'state', 'lag'],
    ...replicas.map((replica) => [
      String(property(replica, 'name')),
      String(property(replica, 'role')),
      String(property(replica, 'state')),
      `${property(replica, 'lagMs')} ms`,
    ]),
  ]);
  return `${head}${table}`;
}

function printSplits(splits: unknown): string {
  if (!Array.isArray(splits) || splits.length === 0) return '';
  const ids = (split: unknown, name: string) => [property(split, name) ?? []].flat().join(' ');
  const milliseconds = (split: unknown, name: string) => {
    const value = property(split, name);
    return typeof value === 'number' ? `${Math.round(value)} ms` : '-';
  };
  const table = printTable([
    ['when', 'what', 'from', 'into', 'state', 'took', 'writers waited'],
    ...splits.map((split) => [
      String(property(split, 'startedAt')),
      String(property(split, 'kind')),
      ids(split, 'parents'),
      ids(split, 'children'),
      String(property(split, 'state')),
      milliseconds(split, 'durationMs'),
      milliseconds(split, 'pauseMs'),
    ]),
  ]);
  return `\n${table}`;
}

export function printPartitions(partitions: unknown): string {
  const list: readonly unknown[] = Array.isArray(partitions) ? partitions : [];
  const bytesOf = (partition: unknown): number => Number(property(partition, 'bytes'));
  const largest = Math.max(1, ...list.map(bytesOf));
  const text = (partition: unknown, name: string): string => String(property(partition, name));
  const number = (partition: unknown, name: string): number =>
    Math.round(Number(property(partition, name)));
  const percent = (partition: unknown, name: string): string =>
    (100 * Number(property(partition, name))).toFixed(1);
  return printTable([
    [
      'partition',
      'from',
      'to',
      '% of ring',
      'items',
      'keys',
      'lsn',
      'RU/s',
      'RU last min',
      'peak %',
      '429s',
      'bytes',
      '',
    ],
    ...list.map((partition) => [
      text(partition, 'id'),
      shortRange(text(partition, 'min')),
      shortRange(text(partition, 'max')),
      `${percent(partition, 'ringFrom')}–${percent(partition, 'ringTo')}`,
      number(partition, 'items'),
      number(partition, 'keys'),
      number(partition, 'lsn'),
      number(partition, 'provisioned'),
      number(partition, 'requestUnitsLastMinute'),
      number(partition, 'normalizedPercent'),
      number(partition, 'throttledLastMinute'),
      printBytes(bytesOf(partition)),
      printBar(bytesOf(partition) / largest, BAR_WIDTH),
    ]),
  ]);
}

/** Eight digits distinguish ranges; the whole value is in `--json`. */
function shortRange(hex: string): string {
  return hex === '' ? '00' : hex.length > 8 ? `${hex.slice(0, 8)}…` : hex;
}
