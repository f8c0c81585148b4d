/** /dbs/{id}/clientencryptionkeys: wrapped keys that only clients can open; stored as sent. */
import { DomainError } from '../../../base/index.ts';
import { isMap } from '../../../value/index.ts';
import type { StoredResourceKind } from './stored-resources.ts';

export const CLIENT_ENCRYPTION_KEYS: StoredResourceKind = {
  kind: 'clientEncryptionKey',
  type: 'clientencryptionkeys',
  listName: 'ClientEncryptionKeys',
  properties({ encryptionAlgorithm, wrappedDataEncryptionKey, keyWrapMetadata }) {
    if (
      typeof encryptionAlgorithm !== 'string' ||
      typeof wrappedDataEncryptionKey !== 'string' ||
      !isMap(keyWrapMetadata)
    )
      throw new DomainError(
        'invalidInput',
        "A client encryption key needs the texts 'encryptionAlgorithm' and 'wrappedDataEncryptionKey' and an object 'keyWrapMetadata'.",
      );
    return { encryptionAlgorithm, wrappedDataEncryptionKey, keyWrapMetadata };
  },
};
