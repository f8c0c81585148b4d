/** Indexes are built at once: there is never a build whose quorum could change. */

import type { Command } from '../../call.ts';
import { namespaceText } from '../../collections/namespace.ts';
import { namespaceOf } from '../../collections/target.ts';
import { MongoError } from '../../errors.ts';

export const setIndexCommitQuorum: Command = {
  needs: 'write',
  fields: { indexNames: 'array!', commitQuorum: 'any!' },
  run(call) {
    throw new MongoError(
      'IndexNotFound',
      `Cannot find an index build on collection '${namespaceText(namespaceOf(call))}' with the provided index names`,
    );
  },
};
