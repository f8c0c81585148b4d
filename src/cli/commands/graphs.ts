/** `graph create` */
import { property, send } from '../client.ts';
import type { Command } from '../command.ts';
import { containerPath } from '../names.ts';

export const GRAPH_COMMANDS: readonly Command[] = [
  {
    words: 'graph create',
    usage: 'DB/GRAPH [--partition-key /PATH] [--throughput RU]',
    help: 'create a graph; without a key it takes ids and values of any type',
    arguments: [1, 1],
    options: {
      'partition-key': {
        value: '/PATH',
        help: 'property of vertices that is the partition key, as in Cosmos DB',
      },
      throughput: { value: 'RU', help: 'RU/s of the graph' },
    },
    async run({ client, arguments: [name = ''], option, output }) {
      const [, db = '', , graph = ''] = containerPath(name);
      const [partitionKey] = option('partition-key');
      const [throughput] = option('throughput');
      const { body } = await send(client, {
        verb: 'POST',
        path: ['_mesocosm', 'graphs'],
        body: JSON.stringify({
          db,
          graph,
          partitionKey,
          throughput: throughput === undefined ? undefined : Number(throughput),
        }),
      });
      const key = property(body, 'partitionKey');
      const kind = typeof key === 'string' ? `partition key ${key}` : 'without a partition key';
      output.show(body, () => `created graph ${name}, ${kind}\n`);
    },
  },
];
