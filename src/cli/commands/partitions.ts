/** `partitions DB/CONTAINER`: how a container's items spread over its partitions. */
import { property, send } from '../client.ts';
import type { Command } from '../command.ts';
import { containerPath } from '../names.ts';
import { printBar, printBytes, printTable } from '../table.ts';

const BAR_WIDTH = 30;

export const PARTITION_COMMANDS: readonly Command[] = [
  {
    words: 'partitions',
    usage: 'DB/CONTAINER',
    help: 'show the partitions of a container: range, items, request units, bytes, a bar each',
    arguments: [1, 1],
    async run({ client, arguments: [name = ''], output }) {
      const [, db = '', , container = ''] = containerPath(name);
      const { body } = await send(client, {
        verb: 'GET',
        path: ['_mesocosm', 'partitions'],
        query: { db, container },
      });
      output.show(body, () => printPartitions(property(body, 'partitions')));
    },
  },
];

export function printPartitions(partitions: unknown): string {
  const list: readonly unknown[] = Array.isArray(partitions) ? partitions : [];
  const bytesOf = (partition: unknown): number => Number(property(partition, 'bytes'));
  const largest = Math.max(1, ...list.map(bytesOf));
  const text = (partition: unknown, name: string): string => String(property(partition, name));
  const number = (partition: unknown, name: string): number =>
    Math.round(Number(property(partition, name)));
  return printTable([
    [
      'partition',
      'from',
      'to',
      'items',
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
      number(partition, 'items'),
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

/** Eight digits tell ranges apart; the whole is in `--json`. */
function shortRange(hex: string): string {
  return hex === '' ? '00' : hex.length > 8 ? `${hex.slice(0, 8)}…` : hex;
}
