/** An item as a client sends it: checked, and made the body its partition stores. */
import { type Bytes, DomainError, ITEM_BYTES_MAX } from '../../base/index.ts';
import type { NewBody } from '../../partition/index.ts';
import type { PutOperation, UpdateOperation } from '../../service/index.ts';
import type { Value, ValueMap } from '../../value/index.ts';
import type { Call } from './call.ts';
import type { ContainerFace } from './container-face.ts';
import { checkJson } from './json-body.ts';
import { checkItemKey, type KeyValues } from './partition-key-header.ts';
import { parsePatch, patchUpdate } from './patch/index.ts';
import { itemId } from './resource-name.ts';
import { encodeItem } from './system-properties.ts';
import { itemTtlSec } from './time-to-live.ts';

/** @param addressed - the id that the request names, which the one in the item has to equal. */
export function checkedItem(
  item: ValueMap,
  { face, key, addressed }: { face: ContainerFace; key: KeyValues; addressed: string | undefined },
): NewBody & { readonly id: string } {
  const id = itemId(item);
  if (addressed !== undefined && id !== addressed)
    throw new DomainError('invalidInput', 'Replacing the id of an item is not allowed.');
  checkItemKey(face, key, item);
  const ttlSec = itemTtlSec(item);
  const { body, value } = encodeItem(item);
  checkSize(body);
  return { id, body, value, ttlSec };
}

/** The update that a patch of an item is. */
export function itemPatch(
  call: Call,
  sent: Value,
  { face, key, id }: { face: ContainerFace; key: KeyValues; id: string },
): UpdateOperation {
  const patch = parsePatch(sent);
  const { condition } = patch;
  const holds =
    condition === undefined ? undefined : call.queries.condition(face.record, condition);
  const seal = (item: ValueMap): NewBody => {
    checkJson(item);
    return checkedItem(item, { face, key, addressed: id });
  };
  return {
    kind: 'update',
    createsAbsent: false,
    update: patchUpdate(patch, { holds, seal }),
  };
}

export type ItemPutKind = PutOperation['kind'];

function checkSize(body: Bytes): void {
  if (body.length > ITEM_BYTES_MAX) throw new DomainError('tooLarge', 'Request size is too large');
}
