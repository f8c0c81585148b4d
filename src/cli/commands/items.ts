/** `item get|put|delete` */
import { readFile } from 'node:fs/promises';
import { type ClientOptions, property, send } from '../client.ts';
import type { Command, CommandContext } from '../command.ts';
import { CommandError } from '../command-error.ts';
import { containerPath, keyHeader, keyOfItem, parseKeyValue } from '../names.ts';

const PARTITION_KEY = {
  value: 'VALUE',
  help: 'partition key value, JSON or text; once per level; not needed where the key is /id',
  multiple: true,
};

export const ITEM_COMMANDS: readonly Command[] = [
  {
    words: 'item get',
    usage: 'DB/CONTAINER ID [--partition-key VALUE]',
    help: 'read an item',
    arguments: [2, 2],
    options: { 'partition-key': PARTITION_KEY },
    async run(context) {
      const { client, output } = context;
      const { path, headers } = await addressOf(context);
      const { body } = await send(client, { verb: 'GET', path, headers });
      output.show(body, () => `${JSON.stringify(body, undefined, 2)}\n`);
    },
  },
  {
    words: 'item put',
    usage: 'DB/CONTAINER [FILE]',
    help: 'create or replace an item from a JSON file, or from standard input',
    arguments: [1, 2],
    async run({ client, arguments: [name = '', file], input, output }) {
      const path = containerPath(name);
      const text = file === undefined || file === '-' ? await input() : await readText(file);
      const item = parseItem(text);
      const key = keyOfItem(item, await keyPaths(client, path));
      const { body } = await send(client, {
        verb: 'POST',
        path: [...path, 'docs'],
        headers: { ...keyHeader(key), 'x-ms-documentdb-is-upsert': 'true' },
        body: text,
      });
      output.show(body, () => `put item ${property(body, 'id')}\n`);
    },
  },
  {
    words: 'item delete',
    usage: 'DB/CONTAINER ID [--partition-key VALUE]',
    help: 'delete an item',
    arguments: [2, 2],
    options: { 'partition-key': PARTITION_KEY },
    async run(context) {
      const { path, headers } = await addressOf(context);
      await send(context.client, { verb: 'DELETE', path, headers });
      const [, id = ''] = context.arguments;
      context.output.show({ deleted: id }, () => `deleted item ${id}\n`);
    },
  },
];

async function addressOf({ client, arguments: [name = '', id = ''], option }: CommandContext) {
  const container = containerPath(name);
  const given = option('partition-key');
  const key = given.length > 0 ? given.map(parseKeyValue) : await keyById(client, container, id);
  return { path: [...container, 'docs', id], headers: keyHeader(key) };
}

/** The key where only the id is known: enough for containers whose key is the id. */
async function keyById(
  client: ClientOptions,
  container: readonly string[],
  id: string,
): Promise<readonly unknown[]> {
  const paths = await keyPaths(client, container);
  if (paths.length === 1 && paths[0] === '/id') return [id];
  // Containers created without a key have this one, and their items have no value for it.
  if (paths.length === 1 && paths[0] === '/_partitionKey') return [{}];
  throw new CommandError(
    2,
    `the partition key of this container is ${paths.join(', ')}: give its value with --partition-key.`,
  );
}

async function keyPaths(
  client: ClientOptions,
  container: readonly string[],
): Promise<readonly string[]> {
  const { body } = await send(client, { verb: 'GET', path: container });
  const paths = property(property(body, 'partitionKey'), 'paths');
  return Array.isArray(paths) ? paths.map(String) : [];
}

async function readText(file: string): Promise<string> {
  try {
    return await readFile(file, 'utf8');
  } catch (error) {
    throw new CommandError(
      1,
      `cannot read ${file}: ${error instanceof Error ? error.message : error}`,
    );
  }
}

function parseItem(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new CommandError(
      1,
      `the item is not JSON: ${error instanceof Error ? error.message : error}`,
    );
  }
}
