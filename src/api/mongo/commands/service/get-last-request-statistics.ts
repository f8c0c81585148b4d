/** The charge of the last command of this connection, as the reference service reports it. */
import { Double } from '../../../../value/index.ts';
import type { Command } from '../../call.ts';
import { ok } from '../../reply.ts';

export const getLastRequestStatistics: Command = {
  needs: 'read',
  run({ connection: { last } }) {
    if (last === undefined) return ok();
    return ok({
      CommandName: last.command,
      RequestCharge: new Double(last.charge),
      RequestDurationInMilliSeconds: BigInt(Math.round(last.durationMs)),
    });
  },
};
