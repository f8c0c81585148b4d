/** The later rounds of SCRAM: the proof, and for old clients an empty round. */
import type { Command } from '../../call.ts';
import { MongoError } from '../../errors.ts';
import { payloadOf, saslReply } from './sasl-start.ts';

export const saslContinue: Command = {
  needs: 'nothing',
  async run({ connection, context, body }) {
    const { scram } = connection;
    if (connection.isFinishing) {
      connection.isFinishing = false;
      return saslReply('', true);
    }
    if (scram === undefined) throw new MongoError('ProtocolError', 'No SASL session state found');
    connection.scram = undefined;
    const { principal, reply } = scram.exchange.finish(payloadOf(body.get('payload')));
    connection.grants = await context.users.grantsOf(connection.user, connection.userDatabase);
    connection.principal = principal;
    connection.isFinishing = !scram.skipsEmpty;
    return saslReply(reply, scram.skipsEmpty);
  },
};
