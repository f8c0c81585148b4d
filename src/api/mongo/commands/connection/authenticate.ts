/** Authentication by a client's certificate, which this server does not ask for. */
import type { Command } from '../../call.ts';
import { MongoError } from '../../errors.ts';

export const authenticate: Command = {
  needs: 'nothing',
  run() {
    throw new MongoError('AuthenticationFailed', 'Authentication failed.');
  },
};
