/** Ends the authentication of the connection. */
import type { Command } from '../../call.ts';
import { ok } from '../../reply.ts';

export const logout: Command = {
  needs: 'nothing',
  run({ connection }) {
    connection.principal = undefined;
    connection.grants = undefined;
    return ok();
  },
};
