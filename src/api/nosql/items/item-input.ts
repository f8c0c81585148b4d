/** Checks an item of a request and encodes it as the body that its partition stores. */
import { type Bytes, DomainError, ITEM_BYTES_MAX } from '../../../base/index.ts';
import type { NewBody } from '../../../partition/index.ts';
import type { UpdateOperation } from '../../../service/index.ts';
import { codecOf, type Encoding, type Value, type ValueMap } from '../../../value/index.ts';
import type { Call } from '../call.ts';
import type { ContainerView } from '../containers/container-view.ts';
import { itemId } from '../containers/resource-name.ts';
import { parsePatch, patchUpdate } from '../patch/index.ts';
import { checkJson } from './json-body.ts';
import { checkItemKey, type KeyValues } from './partition-key-header.ts';
import { encodeItem } from './system-properties.ts';
import { itemTtlSec } from './time-to-live.ts';

type StoredForm = Pick<NewBody, 'body' | 'value'>;

interface ItemInput {
  readonly view: ContainerView;
  readonly key: KeyValues;
  /** The id in the path of the request, which must equal the id in the item. */
  readonly addressed: string | undefined;
  /** The JSON text of an item that is stored as it was sent. */
  readonly text?: Bytes | undefined;
}

export function checkedItem(
  item: ValueMap,
  { view, key, addressed, text }: ItemInput,
): NewBody & { readonly id: string } {
  const id = itemId(item);
  if (addressed !== undefined && id !== addressed)
    throw new DomainError('invalidInput', 'Replacing the id of an item is not allowed.');
  checkItemKey(view, key, item);
  const ttlSec = itemTtlSec(item);
  const { body, value } = text === undefined ? encoded(view, item) : { body: text };
  checkSize(body);
  return { id, body, value, ttlSec };
}

function encoded({ record: { encoding } }: ContainerView, item: ValueMap): StoredForm {
  return encoding === 'json' ? encodeItem(item) : foreignItem(encoding, item);
}

/** Encodes the item for a container of another API. Throws where that encoding cannot hold it. */
function foreignItem(encoding: Encoding, item: ValueMap): StoredForm {
  const codec = codecOf(encoding);
  const body = codec.encode(item);
  return { body, value: codec.decode(body) };
}

/** The update operation of a patch. */
export function itemPatch(
  call: Call,
  sent: Value,
  { view, key, id }: { view: ContainerView; key: KeyValues; id: string },
): UpdateOperation {
  const patch = parsePatch(sent);
  const { condition } = patch;
  const holds =
    condition === undefined ? undefined : call.queries.condition(view.record, condition);
  const finisher = (item: ValueMap): NewBody => {
    checkJson(item);
    return checkedItem(item, { view, key, addressed: id });
  };
  return {
    kind: 'update',
    createsAbsent: false,
    update: patchUpdate(patch, { holds, finisher }),
  };
}

function checkSize(body: Bytes): void {
  if (body.length > ITEM_BYTES_MAX) throw new DomainError('tooLarge', 'Request size is too large');
}
