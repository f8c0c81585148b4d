/** `keys list|rotate` */
import { property, send } from '../client.ts';
import type { Command } from '../command.ts';
import { printTable } from '../table.ts';

export const KEY_COMMANDS: readonly Command[] = [
  {
    words: 'keys list',
    usage: '',
    help: 'show the four keys of the account',
    arguments: [0, 0],
    async run({ client, output }) {
      const { body } = await send(client, { verb: 'GET', path: ['_mesocosm', 'keys'] });
      output.show(body, () => printTable(Object.entries(body as Record<string, string>)));
    },
  },
  {
    words: 'keys rotate',
    usage: 'KEY',
    help: 'make a new key in place of primary, secondary, primaryReadonly or secondaryReadonly',
    arguments: [1, 1],
    async run({ client, arguments: [key = ''], output }) {
      const { body } = await send(client, {
        verb: 'POST',
        path: ['_mesocosm', 'keys', 'rotate'],
        body: JSON.stringify({ key }),
      });
      output.show(body, () => `${property(body, key)}\n`);
    },
  },
];
