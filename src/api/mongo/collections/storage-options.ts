/** Options about storage: they are those of MongoDB's engine, are checked and kept, and change nothing here. */
import { type Bson, type BsonDocument, isDocument } from '../../../value/index.ts';
import { MongoError } from '../errors.ts';
import { checkFields, wrongType } from '../fields/field-table.ts';

export function checkStorage(sent: BsonDocument): void {
  checkEngine(sent.get('storageEngine'));
  const defaults = sent.get('indexOptionDefaults');
  if (!isDocument(defaults)) return;
  checkFields('create.indexOptionDefaults', defaults, { storageEngine: 'object' }, false);
  checkEngine(defaults.get('storageEngine'));
}

function checkEngine(engine: Bson | undefined): void {
  if (!isDocument(engine)) return;
  for (const [name, settings] of engine) {
    if (!isDocument(settings))
      throw new MongoError('BadValue', `'storageEngine.${name}' has to be an embedded document.`);
    if (name !== 'wiredTiger')
      throw new MongoError(
        'InvalidOptions',
        `${name} is not a registered storage engine for this server`,
      );
    for (const [field, value] of settings) {
      if (field !== 'configString')
        throw new MongoError('InvalidOptions', `'${field}' is not a supported option.`);
      if (typeof value !== 'string')
        throw wrongType(`storageEngine.wiredTiger.${field}`, value, 'string');
      checkConfig(value);
    }
  }
}

const CONFIG =
  /^$|^(?:(?:block_compressor|prefix_compression|allocation_size|leaf_page_max|internal_page_max|access_pattern_hint|memory_page_max|split_pct|log|type|app_metadata|cache_resident|checksum|dictionary|huffman_key|huffman_value|key_format|value_format)=[^,]*,?)+$/;

function checkConfig(text: string): void {
  if (text.includes('\0')) throw new MongoError('FailedToParse', "malformed 'configString' value.");
  if (!CONFIG.test(text)) throw new MongoError('BadValue', `Invalid argument: ${text}`);
}
