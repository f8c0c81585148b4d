/** Checks an item of a request and encodes it as the body that its partition stores. */
import { type Bytes, DomainError, ITEM_BYTES_MAX } from '../../../base/index.ts';
import type { ContainerRecord } from '../../../catalog/index.ts';
import type { NewBody } from '../../../partition/index.ts';
import { codecOf, type Encoding, type ValueMap } from '../../../value/index.ts';
import type { ContainerView } from '../containers/container-view.ts';
import { itemId } from '../containers/resource-name.ts';
import { checkItemKey, type KeyValues } from './partition-key-header.ts';
import { encodeItem } from './system-properties.ts';
import { itemTtlSec } from './time-to-live.ts';

type StoredForm = Pick<NewBody, 'body' | 'value'>;

/** The part of a container that items are checked against. */
type CheckedContainer = Pick<ContainerView, 'keyPaths'> & {
  readonly record: Pick<ContainerRecord, 'encoding'>;
  readonly foreign?: ContainerView['foreign'];
};

interface ItemInput {
  readonly view: CheckedContainer;
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
  if (view.foreign !== undefined) {
    const content = view.foreign.contentOf(item);
    checkSize(content.body);
    return { id, ...content };
  }
  const ttlSec = itemTtlSec(item);
  const { body, value } = text === undefined ? encoded(view, item) : { body: text };
  checkSize(body);
  return { id, body, value, ttlSec };
}

function encoded({ record: { encoding } }: CheckedContainer, item: ValueMap): StoredForm {
  return encoding === 'json' ? encodeItem(item) : foreignItem(encoding, item);
}

/** Encodes the item for a container of another API. Throws where that encoding cannot hold it. */
function foreignItem(encoding: Encoding, item: ValueMap): StoredForm {
  const codec = codecOf(encoding);
  const body = codec.encode(item);
  return { body, value: codec.decode(body) };
}

function checkSize(body: Bytes): void {
  if (body.length > ITEM_BYTES_MAX) throw new DomainError('tooLarge', 'Request size is too large');
}
