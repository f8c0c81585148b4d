/** Every command of this server. */
import type { BsonDocument } from '../../../../value/index.ts';
import type { Command } from '../../call.ts';
import { documentOf, ok } from '../../reply.ts';

/** @param commands - the table, which this command is part of. */
export function listCommandsOf(commands: () => Readonly<Record<string, Command>>): Command {
  return {
    needs: 'nothing',
    run() {
      const described = Object.entries(commands()).map(
        ([name, command]) => [name, describe(command)] as const,
      );
      return ok({ commands: new Map<string, BsonDocument>(described) });
    },
  };
}

function describe({ needs, isAdminOnly }: Command): BsonDocument {
  return documentOf({
    help: '',
    requiresAuth: needs !== 'nothing',
    secondaryOk: needs !== 'write',
    adminOnly: isAdminOnly === true,
    apiVersions: [],
    deprecatedApiVersions: [],
  });
}
