/** Would compact what searches of encrypted fields leave behind. No such values are stored: there is nothing to do. */
import type { Command } from '../../call.ts';
import { isView } from '../../collections/collection.ts';
import { encryptedPaths } from '../../collections/encrypted-fields.ts';
import { namespaceText } from '../../collections/namespace.ts';
import { existingCollection } from '../../collections/target.ts';
import { MongoError } from '../../errors.ts';
import { documentOf, ok } from '../../reply.ts';

export const compactStructuredEncryptionData: Command = {
  needs: 'write',
  fields: {
    compactionTokens: 'object!',
    encryptionInformation: 'object',
    anchorPaddingFactor: 'any',
  },
  run(call) {
    const collection = existingCollection(call);
    const text = namespaceText(collection.namespace);
    if (isView(collection))
      throw new MongoError(
        'CommandNotSupportedOnView',
        `Namespace ${text} is a view, not a collection`,
      );
    const paths = encryptedPaths(collection.options);
    if (paths.length === 0)
      throw new MongoError(
        'Location6346807',
        `Target namespace is not an encrypted collection: ${text}`,
      );
    const tokens = call.args.document('compactionTokens');
    for (const { path } of paths)
      if (!tokens.has(path))
        throw new MongoError('Location7294900', `Compaction token for field '${path}' is missing`);
    const counts = { read: 0n, inserted: 0n, updated: 0n, deleted: 0n };
    return ok({
      stats: documentOf({
        ecoc: documentOf({ read: 0n, deleted: 0n }),
        esc: documentOf(counts),
      }),
    });
  },
};
