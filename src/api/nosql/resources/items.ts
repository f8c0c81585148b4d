/** /dbs/{id}/colls/{id}/docs/{id}: point operations on items. */
import { isPromise, type MaybePromise } from '../../../base/index.ts';
import type { ReadReply, WriteReply } from '../../../cluster/index.ts';
import { itemNotFound, type NewBody } from '../../../partition/index.ts';
import type { ItemAddress, ItemPut } from '../../../service/index.ts';
import type { Call } from '../call.ts';
import type { ContainerView } from '../containers/container-view.ts';
import { checkedItem } from '../items/item-input.ts';
import { checkJson, parseJson } from '../items/json-body.ts';
import { type KeyValues, requiredPartitionKey } from '../items/partition-key-header.ts';
import { itemPatch } from '../items/patch-updater.ts';
import { type RequestItem, requestItemInSlices } from '../items/request-item.ts';
import { emptyReply, type Reply, responseInfoHeaders } from '../reply.ts';
import {
  checkIndexingDirective,
  headerRequestClass,
  ifMatch,
  isNotModified,
  readRequestClass,
  wantsMinimal,
} from '../request.ts';
import { hasTriggers, writeWithTriggers } from '../scripts/write-with-triggers.ts';
import { parseSessionToken, printSessionToken } from '../session-token.ts';
import { addressedItemId } from './item-links.ts';

/** Synchronous where the service is. */
export function readItem(call: Call): MaybePromise<Reply> {
  const view = call.ownerContainer();
  const id = addressedItemId(call, view);
  return isPromise(id)
    ? id.then((resolved) => readById(call, view, resolved))
    : readById(call, view, id);
}

function readById(call: Call, view: ContainerView, id: string): MaybePromise<Reply> {
  const partitionKey = requiredPartitionKey(call, view);
  const session = parseSessionToken(call.header('x-ms-session-token'));
  const address = addressOf(view, partitionKey, id);
  const read = call.service.items.read(view.record, address, session, readRequestClass(call));
  return isPromise(read)
    ? read.then((reply) => readReply(call, view, reply))
    : readReply(call, view, read);
}

/** @param key - as the request names it. */
function addressOf(view: ContainerView, key: KeyValues, id: string): ItemAddress {
  return view.foreign?.addressOf(key, id) ?? { partitionKey: key, rowKey: [id] };
}

function readReply(call: Call, view: ContainerView, read: ReadReply): Reply {
  const { item, charge } = read;
  if (item === undefined) {
    const missing = itemNotFound();
    missing.responseInfo = read;
    throw missing;
  }
  const [contentPath, rid, altContentPath, path] = view.scopeHeaders as [
    string,
    string,
    string,
    string,
  ];
  const headers = [
    'etag',
    item.etag,
    'x-ms-session-token',
    printSessionToken(read),
    'lsn',
    String(read.lsn),
    'x-ms-item-lsn',
    String(item.lsn),
    contentPath,
    rid,
    altContentPath,
    path,
    'x-ms-documentdb-partitionkeyrangeid',
    read.partitionId,
  ];
  if (isNotModified(call, item.etag)) return emptyReply(304, { charge: 1, headers });
  return { status: 200, charge, headers, body: view.foreign?.bodyOf(item) ?? item.body };
}

export function createItem(call: Call): Promise<Reply> {
  if (hasTriggers(call)) return writeWithTriggers(call, { kind: 'create' });
  return put(call, 'create', undefined);
}

export function upsertItem(call: Call): Promise<Reply> {
  if (hasTriggers(call)) return writeWithTriggers(call, { kind: 'upsert' });
  return put(call, 'upsert', undefined);
}

export async function replaceItem(call: Call): Promise<Reply> {
  const view = call.ownerContainer();
  const id = await addressedItemId(call, view);
  if (hasTriggers(call)) return writeWithTriggers(call, { kind: 'replace', id });
  return put(call, 'replace', id);
}

/**
 * Not an async function, so that the request body is not kept while the write waits for the disk.
 * @param addressed - the id in the path; the body may give the item another one.
 */
function put(call: Call, kind: ItemPut['kind'], addressed: string | undefined): Promise<Reply> {
  checkIndexingDirective(call);
  const view = call.ownerContainer();
  const sent = requestItemInSlices(call.body, view, call.slicedWork);
  return isPromise(sent)
    ? sent.then((long) => putSent(call, view, long, { kind, addressed }))
    : putSent(call, view, sent, { kind, addressed });
}

function putSent(
  call: Call,
  view: ContainerView,
  { item, text }: RequestItem,
  { kind, addressed }: { kind: ItemPut['kind']; addressed: string | undefined },
): Promise<Reply> {
  const key = requiredPartitionKey(call, view);
  const content = checkedItem(item, { view, key, addressed: undefined, text });
  const { id, body, value, ttlSec } = content;
  if (addressed !== undefined && addressed !== id) {
    call.renameGuard?.();
    return rename(call, view, { from: addressed, key, content });
  }
  return call.service.items
    .write(
      view.record,
      { kind, ...addressOf(view, key, id), body, value, ttlSec, ifMatch: ifMatch(call) },
      headerRequestClass(call),
    )
    .then((written) => writeReply(call, view, written));
}

interface Renaming {
  readonly from: string;
  readonly key: KeyValues;
  readonly content: NewBody & { readonly id: string };
}

/** A replacement under another id deletes the old item and creates the new one, both or neither. */
async function rename(
  call: Call,
  view: ContainerView,
  { from, key, content }: Renaming,
): Promise<Reply> {
  view.foreign?.refuse('A new id');
  const { id, ...body } = content;
  const { outcomes, ...responseInfo } = await call.service.items.transact(
    view.record,
    key,
    [
      { kind: 'delete', rowKey: [from], ifMatch: ifMatch(call) },
      { kind: 'create', rowKey: [id], ...body },
    ],
    headerRequestClass(call),
  );
  const [deleted, created] = outcomes;
  const effect = { kind: 'replaced', item: created?.item, previous: deleted?.previous } as const;
  return writeReply(call, view, { ...responseInfo, effect });
}

export async function patchItem(call: Call): Promise<Reply> {
  const view = call.ownerContainer();
  view.foreign?.refuse('A partial update');
  const id = await addressedItemId(call, view);
  const key = requiredPartitionKey(call, view);
  const sent = parseJson(call.body);
  checkJson(sent);
  const patch = itemPatch(sent, { view, key, id });
  const written = await call.service.items.write(
    view.record,
    { ...patch, rowKey: [id], partitionKey: key, ifMatch: ifMatch(call) },
    headerRequestClass(call),
  );
  return writeReply(call, view, written);
}

export async function deleteItem(call: Call): Promise<Reply> {
  const view = call.ownerContainer();
  const id = await addressedItemId(call, view);
  if (hasTriggers(call)) return writeWithTriggers(call, { kind: 'delete', id });
  const partitionKey = requiredPartitionKey(call, view);
  const written = await call.service.items.write(
    view.record,
    { kind: 'delete', ...addressOf(view, partitionKey, id), ifMatch: ifMatch(call) },
    headerRequestClass(call),
  );
  return writeReply(call, view, written);
}

function writeReply(call: Call, view: ContainerView, written: WriteReply): Reply {
  const { effect, charge } = written;
  const headers = [...responseInfoHeaders(written), ...view.scopeHeaders];
  const { item } = effect;
  if (item === undefined) return emptyReply(204, { charge, headers });
  headers.push('etag', item.etag, 'x-ms-item-lsn', String(item.lsn));
  const status = effect.kind === 'created' ? 201 : 200;
  if (!wantsMinimal(call))
    return { status, charge, headers, body: view.foreign?.bodyOf(item) ?? item.body };
  headers.push('preference-applied', 'return=minimal');
  return emptyReply(status, { charge, headers });
}
