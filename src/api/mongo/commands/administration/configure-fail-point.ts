/** Makes commands fail on purpose, where the operator allows test commands. */
import { isDocument } from '../../../../value/index.ts';
import type { Command } from '../../call.ts';
import { MongoError } from '../../errors.ts';
import { ok } from '../../reply.ts';

export const configureFailPoint: Command = {
  needs: 'write',
  isAdminOnly: true,
  run({ context: { failPoints }, body, name, args }) {
    if (failPoints === undefined)
      throw new MongoError('CommandNotFound', `no such command: '${name}'`);
    const data = body.get('data');
    const count = failPoints.configure(
      args.text(name),
      body.get('mode'),
      isDocument(data) ? data : new Map(),
    );
    return ok({ count });
  },
};
