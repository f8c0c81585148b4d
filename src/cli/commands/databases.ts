/** `db list|show|create|scale|delete` */
import { property, send, sendFeed } from '../client.ts';
import type { Command } from '../command.ts';
import { MODE, printScaled, scale } from '../scale.ts';

const THROUGHPUT = { value: 'RU', help: 'RU/s that the containers of the database share' };

export const DATABASE_COMMANDS: readonly Command[] = [
  {
    words: 'db list',
    usage: '',
    help: 'list databases',
    arguments: [0, 0],
    async run({ client, output }) {
      const databases = await sendFeed(client, ['dbs'], 'Databases');
      output.show(databases, () => databases.map((entry) => `${property(entry, 'id')}\n`).join(''));
    },
  },
  {
    words: 'db show',
    usage: 'DB',
    help: 'show a database',
    arguments: [1, 1],
    async run({ client, arguments: [db = ''], output }) {
      const { body } = await send(client, { verb: 'GET', path: ['dbs', db] });
      output.show(body, () => `${JSON.stringify(body, undefined, 2)}\n`);
    },
  },
  {
    words: 'db create',
    usage: 'DB [--throughput RU]',
    help: 'create a database',
    arguments: [1, 1],
    options: { throughput: THROUGHPUT },
    async run({ client, arguments: [db = ''], option, output }) {
      const [throughput] = option('throughput');
      const { body } = await send(client, {
        verb: 'POST',
        path: ['dbs'],
        headers: throughput === undefined ? {} : { 'x-ms-offer-throughput': throughput },
        body: JSON.stringify({ id: db }),
      });
      output.show(body, () => `created database ${db}\n`);
    },
  },
  {
    words: 'db scale',
    usage: 'DB RU [--mode MODE]',
    help: 'change the throughput that the containers of a database share',
    arguments: [2, 2],
    options: { mode: MODE },
    async run({ client, arguments: [db = '', throughput = ''], option, output }) {
      const [mode] = option('mode');
      const { body } = await send(client, { verb: 'GET', path: ['dbs', db] });
      const scaled = await scale(client, body, { throughput, mode });
      output.show(scaled.offer, () => printScaled(`database ${db}`, scaled));
    },
  },
  {
    words: 'db delete',
    usage: 'DB',
    help: 'delete a database with all its containers',
    arguments: [1, 1],
    async run({ client, arguments: [db = ''], output }) {
      await send(client, { verb: 'DELETE', path: ['dbs', db] });
      output.show({ deleted: db }, () => `deleted database ${db}\n`);
    },
  },
];
