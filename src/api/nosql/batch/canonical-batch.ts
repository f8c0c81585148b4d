/** A batch in canonical JSON: its items are stored as the bytes of the request, without parsing them. */
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
  /** The properties of the operation. With a `text`, `resourceBody` has only the properties that are checked. */
  readonly fields: ValueMap;
  readonly text: Bytes | undefined;
}

/** One reader serves all requests, because reading is synchronous. */
const item = new CanonicalJson();
const operation = new CanonicalJson({ name: 'resourceBody', object: item });

const RESOURCE_BODY = Buffer.from('resourceBody');
const OPERATION_TYPE = Buffer.from('operationType');
const ID = Buffer.from('id');
const PARTITION_KEY = Buffer.from('partitionKey');
const IF_MATCH = Buffer.from('ifMatch');
const IF_NONE_MATCH = Buffer.from('ifNoneMatch');
const MINIMAL_RETURN = Buffer.from('minimalReturnPreference');

/** Operations whose resource body is an item. */
const PUTS: readonly Value[] = ['create', 'upsert', 'replace'];

/** Undefined where the body is not canonical, or no batch. */
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
