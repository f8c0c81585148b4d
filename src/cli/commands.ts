/** Every command in one table, in the order of the help text. */
import type { Command } from './command.ts';
import { CONTAINER_COMMANDS } from './commands/containers.ts';
import { DATABASE_COMMANDS } from './commands/databases.ts';
import { GRAPH_COMMANDS } from './commands/graphs.ts';
import { ITEM_COMMANDS } from './commands/items.ts';
import { KEY_COMMANDS } from './commands/keys.ts';
import { PARTITION_COMMANDS } from './commands/partitions.ts';
import { QUERY_COMMANDS } from './commands/query.ts';

export const COMMANDS: readonly Command[] = [
  ...DATABASE_COMMANDS,
  ...CONTAINER_COMMANDS,
  ...GRAPH_COMMANDS,
  ...ITEM_COMMANDS,
  ...QUERY_COMMANDS,
  ...PARTITION_COMMANDS,
  ...KEY_COMMANDS,
];
