/** GET on /dbs/{id}/colls/{id}/docs with A-IM: the writes since a position, latest versions or all versions. */
import { type Bytes, PAGE_BYTES_MAX } from '../../../base/index.ts';
import type { FeedChange, FeedMode, Version } from '../../../partition/index.ts';
import {
  type ChangeFeedPage,
  type ChangeFeedStart,
  onlyLsn,
  parseChangePosition,
  printChangePosition,
} from '../../../service/index.ts';
import { EPK_MAX, EPK_MIN, jsonCodec, readPath, type ValueMap } from '../../../value/index.ts';
import type { Call } from '../call.ts';
import type { ContainerView } from '../containers/container-view.ts';
import { RequestError } from '../errors.ts';
import { feedBody } from '../feed.ts';
import { emptyReply, type Reply, responseInfoHeaders } from '../reply.ts';
import { changeFeedLimit, readRequestClass } from '../request.ts';
import { parseSessionToken } from '../session-token.ts';
import { feedScope } from './feed-scope.ts';

const WIRE_FORMAT = '2021-09-15';

export async function listChanges(call: Call, manipulation: string): Promise<Reply> {
  const view = call.ownerContainer();
  const page = await call.service.changeFeed.read(view.record, {
    scope: feedScope(call, view),
    mode: feedMode(call, manipulation),
    start: feedStart(call),
    limit: changeFeedLimit(call),
    bytesMax: PAGE_BYTES_MAX,
    sessionToken: parseSessionToken(call.header('x-ms-session-token')),
    requestClass: readRequestClass(call),
  });
  const headers = [...responseInfoHeaders(page), ...view.scopeHeaders, 'etag', etagOf(page)];
  if (!page.more) return emptyReply(304, { charge: page.charge, headers });
  headers.push('x-ms-item-count', String(page.changes.length));
  const bodies = page.changes.flatMap((change) => bodyOf(change, view));
  const body = feedBody({ rid: view.rid, key: 'Documents' }, bodies);
  return { status: 200, charge: page.charge, headers, body };
}

function feedMode(call: Call, manipulation: string): FeedMode {
  const format = call.header('x-ms-cosmos-changefeed-wire-format-version');
  if (format !== undefined && format !== WIRE_FORMAT)
    throw new RequestError(400, 'The version of the change feed wire format is not known.');
  switch (manipulation.trim().toLowerCase()) {
    case 'incremental feed':
      return 'latest';
    case 'full-fidelity feed':
      return 'all';
    default:
      throw new RequestError(
        400,
        'The value of A-IM must be Incremental Feed or Full-Fidelity Feed.',
      );
  }
}

function feedStart(call: Call): ChangeFeedStart {
  const position = call.header('if-none-match');
  if (position === '*') return { kind: 'now' };
  if (position !== undefined) return parseEtag(position);
  const since = call.header('if-modified-since');
  if (since === undefined) return { kind: 'beginning' };
  const sinceMs = Date.parse(since);
  if (Number.isNaN(sinceMs))
    throw new RequestError(400, 'The value of If-Modified-Since is not a date.');
  return { kind: 'time', sinceSec: Math.max(0, Math.floor(sinceMs / 1000)) };
}

/** One LSN where the scope is one segment, as clients of the protocol expect; else the printed position. */
function etagOf({ position }: ChangeFeedPage): string {
  return `"${onlyLsn(position) ?? printChangePosition(position)}"`;
}

function parseEtag(etag: string): ChangeFeedStart {
  const text = etag.replace(/^(?:W\/)?"?|"$/g, '');
  if (!/^\d{1,15}$/.test(text)) return { kind: 'position', position: parseChangePosition(text) };
  const start = { kind: 'after', lsn: Number(text) } as const;
  return { kind: 'position', position: [{ min: EPK_MIN, max: EPK_MAX, start }] };
}

function bodyOf(change: FeedChange, view: ContainerView): Bytes | [] {
  switch (change.kind) {
    case 'write':
      return withLsn(view.foreign?.bodyOf(change.item) ?? change.item.body, change.lsn);
    case 'version':
      return versionBody(change.version, view);
    case 'deletion':
      return [];
  }
}

/** The stored item with the LSN of its write appended. */
function withLsn(body: Bytes, lsn: number): Bytes {
  const end = body.length - 1;
  const tail = `,"_lsn":${lsn}}`;
  const bytes = Buffer.allocUnsafe(end + tail.length);
  bytes.set(body.subarray(0, end));
  bytes.write(tail, end, 'latin1');
  return bytes;
}

function versionBody(version: Version, view: ContainerView): Bytes {
  const { kind, lsn, timestampSec, previousLsn, item } = version;
  const isDeletion = kind === 'delete' || kind === 'expire';
  const metadata = {
    operationType: isDeletion ? 'delete' : kind,
    lsn,
    crts: timestampSec,
    ...(previousLsn > 0 ? { previousImageLSN: previousLsn } : {}),
    ...(isDeletion ? deletionMetadata(version, view) : {}),
  };
  return Buffer.concat([
    Buffer.from(isDeletion ? '{"current":{},"previous":' : '{"current":'),
    view.foreign?.bodyOf(item) ?? item.body,
    Buffer.from(`,"metadata":${JSON.stringify(metadata)}}`),
  ]);
}

/** Id and key of the deleted item, for readers that do not want to parse its previous version. */
function deletionMetadata({ kind, item }: Version, view: ContainerView): object {
  const { keyPaths, record, foreign } = view;
  const value = foreign?.documentOf(item) ?? (jsonCodec.decode(item.body) as ValueMap);
  const partitionKey = Object.fromEntries(
    keyPaths.map((path, at) => [
      (record.partitionKey.paths[at] ?? '').slice(1),
      readPath(value, path),
    ]),
  );
  return { timeToLiveExpired: kind === 'expire', id: value.id, partitionKey };
}
