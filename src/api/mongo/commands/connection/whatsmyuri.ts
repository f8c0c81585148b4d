/** The address of the client. */
import type { Command } from '../../call.ts';
import { ok } from '../../reply.ts';
import { addressText } from './hello.ts';

export const whatsmyuri: Command = {
  needs: 'read',
  run({ connection: { info } }) {
    return ok({ you: addressText({ host: info.remoteAddress, port: info.remotePort }) });
  },
};
