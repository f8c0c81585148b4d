/** Parses the operations of a batch body into operations of the service. */
import { BATCH_OPERATIONS_MAX, type Bytes, DomainError } from '../../../base/index.ts';
import type { Conditions } from '../../../partition/index.ts';
import type { Operation } from '../../../service/index.ts';
import { isList, isMap, type Value, type ValueMap } from '../../../value/index.ts';
import type { Call } from '../call.ts';
import type { ContainerView } from '../containers/container-view.ts';
import { RequestError } from '../errors.ts';
import { checkedItem } from '../items/item-input.ts';
import { checkJson, parseJson } from '../items/json-body.ts';
import { type KeyValues, parsePartitionKey, toKeyValues } from '../items/partition-key-header.ts';
import { itemPatch } from '../items/patch-updater.ts';
import { wantsMinimal } from '../request.ts';
import { isBinaryBatch, readBinaryBatch } from './binary-batch.ts';
import { readCanonicalBatch } from './canonical-batch.ts';
import { malformedBatch } from './malformed-batch.ts';

const KINDS = {
  create: 'create',
  upsert: 'upsert',
  replace: 'replace',
  read: 'read',
  delete: 'delete',
  patch: 'patch',
} as const;

/** A well-formed operation. An error in its content becomes its own result. */
export interface RequestOperation {
  readonly kind: keyof typeof KINDS;
  /** The id of the item, from the operation or from its body. */
  readonly id: Value;
  readonly partitionKey: KeyValues | undefined;
  readonly body: Value;
  /** The JSON text of an item that is stored as it was sent. */
  readonly text: Bytes | undefined;
  /** The error that was found when the body was parsed. */
  readonly bodyError: DomainError | undefined;
  readonly conditions: Conditions;
  /** True for reads, false for deletions. */
  readonly wantsItem: boolean;
}

/** An operation as one of the two request formats gives it. */
interface OperationText {
  readonly fields: Value;
  readonly text?: Bytes | undefined;
  readonly bodyError?: DomainError | undefined;
}

/** Throws 400 for a body that is no list of operations, or a longer one than allowed. */
export function readBatch(call: Call, view: ContainerView): readonly RequestOperation[] {
  const sent = isBinaryBatch(call.body)
    ? readBinaryBatch(call.body, view)
    : (readCanonicalBatch(call.body, view) ?? parseBatch(call.body));
  if (sent.length === 0) throw new RequestError(400, 'Batch request has no operations.');
  if (sent.length > BATCH_OPERATIONS_MAX)
    throw new RequestError(400, 'Batch request has more operations than what is supported.');
  const isMinimal = wantsMinimal(call);
  return sent.map((operation, at) => readOperation(operation, at, isMinimal));
}

function parseBatch(body: Bytes): readonly OperationText[] {
  const sent = parseJson(body);
  if (!isList(sent)) throw malformedBatch('an array of operations is expected');
  return sent.map((fields) => ({ fields }));
}

function readOperation(
  { fields, text, bodyError }: OperationText,
  at: number,
  isMinimal: boolean,
): RequestOperation {
  if (!isMap(fields)) throw malformedBatch(`operation ${at} is not an object`);
  const { operationType, id, resourceBody, partitionKey } = fields;
  const name = typeof operationType === 'string' ? operationType.toLowerCase() : '';
  if (!Object.hasOwn(KINDS, name))
    throw malformedBatch(`operation ${at} has no known operationType`);
  const kind = KINDS[name as keyof typeof KINDS];
  const isInBody = kind === 'create' || kind === 'upsert';
  const wantsNoItem = isMinimal || fields.minimalReturnPreference === true;
  return {
    kind,
    id: isInBody ? (isMap(resourceBody) ? resourceBody.id : undefined) : id,
    partitionKey: partitionKey === undefined ? undefined : readKey(partitionKey),
    body: resourceBody,
    text,
    bodyError,
    conditions: { ifMatch: textOf(fields.ifMatch), ifNoneMatch: textOf(fields.ifNoneMatch) },
    wantsItem: kind === 'read' || (kind !== 'delete' && !wantsNoItem),
  };
}

/** Clients send the key as JSON in a text, as a list, or as the single value it has. */
function readKey(sent: Value): KeyValues {
  if (typeof sent === 'string' && sent.startsWith('[') && sent.endsWith(']'))
    return parsePartitionKey(sent);
  return toKeyValues(isList(sent) ? sent : [sent], JSON.stringify(sent));
}

function textOf(sent: Value): string | undefined {
  return typeof sent === 'string' && sent !== '' ? sent : undefined;
}

/** Throws the error of this one operation. */
export function toOperation(
  view: ContainerView,
  sent: RequestOperation,
  key: KeyValues,
): Exclude<Operation, { readonly kind: 'expect' }> {
  const { kind, conditions, body, text, bodyError } = sent;
  if (bodyError !== undefined) throw bodyError;
  switch (kind) {
    case 'create':
    case 'upsert':
    case 'replace': {
      const addressed = kind === 'replace' ? idOf(sent) : undefined;
      const {
        id,
        body: stored,
        value,
        ttlSec,
      } = checkedItem(itemOf(body), { view, key, addressed, text });
      const { ifMatch, ifNoneMatch } = conditions;
      return { kind, rowKey: [id], body: stored, value, ttlSec, ifMatch, ifNoneMatch };
    }
    case 'patch': {
      const id = idOf(sent);
      if (body !== undefined) checkJson(body);
      return { ...itemPatch(body, { view, key, id }), rowKey: [id], ...conditions };
    }
    case 'read': {
      // The service treats either condition of a read as an etag that the client has already.
      const { ifMatch, ifNoneMatch = ifMatch } = conditions;
      return { kind, rowKey: [idOf(sent)], ifNoneMatch };
    }
    case 'delete':
      return { kind, rowKey: [idOf(sent)], ...conditions };
  }
}

/** Adds the steps of an operation to a transaction. A replacement under another id is a deletion and a creation. */
export function addSteps(
  steps: Operation[],
  view: ContainerView,
  sent: RequestOperation,
  key: KeyValues,
): void {
  const { kind, id, body, text, conditions } = sent;
  if (kind !== 'replace' || !isMap(body) || body.id === id) {
    steps.push(toOperation(view, sent, key));
    return;
  }
  const deleted = [idOf(sent)];
  const content = checkedItem(itemOf(body), { view, key, addressed: undefined, text });
  const { id: newId, ...created } = content;
  steps.push(
    { kind: 'delete', rowKey: deleted, ...conditions },
    { kind: 'create', rowKey: [newId], ...created },
  );
}

function itemOf(body: Value): ValueMap {
  if (!isMap(body))
    throw new DomainError('invalidInput', 'The resourceBody of the operation is not an object.');
  checkJson(body);
  return body;
}

function idOf({ id }: RequestOperation): string {
  if (typeof id === 'string' && id !== '') return id;
  throw new DomainError('invalidInput', 'The operation does not name an item by its id.');
}
