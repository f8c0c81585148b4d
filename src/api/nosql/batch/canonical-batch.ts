/** A batch whose operations stand in its body as they would be printed: items are cut from it and stored as they are. */
import { isUtf8 } from 'node:buffer';
import { BATCH_OPERATIONS_MAX, type Bytes, bufferOf } from '../../../base/index.ts';
import {
  CanonicalJson,
  CLOSING_BRACKET,
  COMMA,
  OPENING_BRACKET,
  type Value,
  type ValueMap,
} from '../../../value/index.ts';
import type { ContainerView } from '../containers/container-view.ts';
import { checkedProperties } from '../items/request-item.ts';

export interface CanonicalOperation {
  /** The properties of the operation; where its item has a text, `resourceBody` is only what is checked of it. */
  readonly fields: ValueMap;
  readonly text: Bytes | undefined;
}

/** Requests are read one at a time. */
const item = new CanonicalJson();
const operation = new CanonicalJson({ name: 'resourceBody', object: item });

const RESOURCE_BODY = Buffer.from('resourceBody');
const OPERATION_TYPE = Buffer.from('operationType');
const ID = Buffer.from('id');
const PARTITION_KEY = Buffer.from('partitionKey');
const IF_MATCH = Buffer.from('ifMatch');
const IF_NONE_MATCH = Buffer.from('ifNoneMatch');
const MINIMAL_RETURN = Buffer.from('minimalReturnPreference');

/** Their resource body is an item. */
const PUTS: readonly Value[] = ['create', 'upsert', 'replace'];

/** Undefined where the body stands otherwise, or is no batch. */
export function readCanonicalBatch(
  body: Bytes,
  view: ContainerView,
): readonly CanonicalOperation[] | undefined {
  const text = bufferOf(body);
  if (text[0] !== OPENING_BRACKET || !isUtf8(text)) return undefined;
  const operations: CanonicalOperation[] = [];
  for (let at = 1; operations.length < BATCH_OPERATIONS_MAX; at++) {
    at = operation.read(text, at);
    if (at < 0) return undefined;
    operations.push(readFields(view));
    if (text[at] === CLOSING_BRACKET) return at + 1 === text.length ? operations : undefined;
    if (text[at] !== COMMA) return undefined;
  }
  return undefined;
}

function readFields(view: ContainerView): CanonicalOperation {
  const operationType = operation.get(OPERATION_TYPE);
  const isPut = typeof operationType === 'string' && PUTS.includes(operationType.toLowerCase());
  const checked = isPut && item.isRead ? checkedProperties(item, view) : undefined;
  const fields = {
    operationType,
    id: operation.get(ID),
    partitionKey: operation.get(PARTITION_KEY),
    ifMatch: operation.get(IF_MATCH),
    ifNoneMatch: operation.get(IF_NONE_MATCH),
    minimalReturnPreference: operation.get(MINIMAL_RETURN),
    resourceBody: checked ?? operation.get(RESOURCE_BODY),
  };
  return { fields, text: checked && operation.textOf(RESOURCE_BODY) };
}
