/** The address of the client. */
import type { Command } from '../../call.ts';
import { ok } from '../../reply.ts';

export const whatsmyuri: Command = {
  needs: 'read',
  run: ({ connection }) => ok({ you: connection.info.remoteAddress }),
};
