/** Functions of a whole item, and the conditional. */
import { isMap, type Value } from '../../../../value/index.ts';
import { define, defineTotal, type SystemFunction } from './function.ts';

/** Bytes of the document part at the end of a document's resource id. */
const DOCUMENT_ID_BYTES = 8;

export const itemFunctions: readonly SystemFunction[] = [
  define('DOCUMENTID', 1, documentId),
  defineTotal('IIF', 3, (condition, consequent, alternative) =>
    condition === true ? consequent : alternative,
  ),
];

/** The whole number that the resource id of the item ends with. */
function documentId(item: Value): Value {
  if (!isMap(item) || typeof item._rid !== 'string') return undefined;
  const bytes = Buffer.from(item._rid.replaceAll('-', '/'), 'base64');
  if (bytes.length < 2 * DOCUMENT_ID_BYTES) return undefined;
  return Number(bytes.readBigUInt64LE(bytes.length - DOCUMENT_ID_BYTES));
}
