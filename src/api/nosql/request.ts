/** Request headers as typed options. Header values are checked here and nowhere else. */
import { PAGE_ITEMS_DEFAULT, PAGE_ITEMS_MAX } from '../../base/index.ts';
import {
  CONSISTENCY_LEVELS,
  type ConsistencyLevel,
  NORMAL_CLASS,
  type RequestClass,
  readFactor,
  requestClassOf,
  THROUGHPUT_BUCKETS_MAX,
} from '../../throughput/index.ts';
import type { Call } from './call.ts';
import { RequestError } from './errors.ts';

/** The protocol version most clients send; compared first, because every request has it. */
const COMMON_VERSION = '2020-07-15';
const OLDEST_VERSION = '2014-08-21';
/** From this version on a container has a partition key. */
const KEY_REQUIRED_VERSION = '2018-12-31';

/** Rows per page where the client leaves the count to the server. */
const QUERY_ROWS_PER_PAGE = 1000;

export function checkVersion(version: string | string[] | undefined): void {
  if (version === undefined || version === COMMON_VERSION) return;
  if (
    typeof version === 'string' &&
    /^2\d{3}-(0\d|1[0-2])-([0-2]\d|3[01])$/.test(version) &&
    version >= OLDEST_VERSION
  )
    return;
  throw new RequestError(400, 'The value of x-ms-version is not a version of this API.');
}

export function isPartitionKeyOptional(call: Call): boolean {
  const version = call.header('x-ms-version');
  return version !== undefined && version < KEY_REQUIRED_VERSION;
}

/** POST on a feed is a query by a header or by its content type. */
export function isQuery(call: Call): boolean {
  return (
    call.isHeaderTrue('x-ms-documentdb-isquery') ||
    (call.header('content-type')?.startsWith('application/query+json') ?? false)
  );
}

/** The etag that a write requires; undefined where it requires none. */
export function ifMatch(call: Call): string | undefined {
  return call.header('if-match');
}

/** True where the client already has this version. */
export function isNotModified(call: Call, etag: string): boolean {
  const held = call.headers['if-none-match'];
  return held !== undefined && (held === etag || held === '*');
}

/** The consistency level of a read. A request may ask for a weaker level than the account's, not for a stronger one. */
function readConsistency({ headers, service }: Call): ConsistencyLevel {
  const account = service.settings.consistency;
  const wanted = headers['x-ms-consistency-level'];
  if (wanted === undefined || wanted === account || wanted === '') return account;
  const text = String(wanted).toLowerCase();
  const level = CONSISTENCY_LEVELS.find((candidate) => candidate.toLowerCase() === text);
  if (level === undefined)
    throw new RequestError(400, 'The value of x-ms-consistency-level is not valid.');
  if (CONSISTENCY_LEVELS.indexOf(level) < CONSISTENCY_LEVELS.indexOf(account))
    throw new RequestError(
      400,
      `ConsistencyLevel ${level} specified in the request is invalid when service is configured with consistency level ${account}. Ensure the request consistency level is not stronger than the service consistency level.`,
    );
  return level;
}

/** Items per page: the count of the header within bounds, or the default. */
export function pageLimit(call: Call): number {
  return itemCount(call, PAGE_ITEMS_DEFAULT);
}

/** Rows of a page of a query; -1 leaves it to the server, which then sends more. */
export function queryLimit(call: Call): number {
  return itemCount(call, QUERY_ROWS_PER_PAGE);
}

/** Changes per page; without the header the server sends as many as fit. */
export function changeFeedLimit(call: Call): number {
  return itemCount(call, QUERY_ROWS_PER_PAGE, QUERY_ROWS_PER_PAGE);
}

function itemCount(call: Call, leftToServer: number, unspecified = PAGE_ITEMS_DEFAULT): number {
  const text = call.header('x-ms-max-item-count');
  if (text === undefined) return unspecified;
  if (text === '-1') return leftToServer;
  const count = toInteger(text);
  if (count === undefined || count < 1)
    throw new RequestError(
      400,
      `The value '${text.slice(0, 64)}' of x-ms-max-item-count is not valid: a positive number or -1 is expected.`,
    );
  return Math.min(count, PAGE_ITEMS_MAX);
}

/** `return=minimal`: the client does not want the written item in the response. */
export function wantsMinimal(call: Call): boolean {
  const prefer = call.header('prefer');
  return prefer !== undefined && /\breturn\s*=\s*minimal\b/i.test(prefer);
}

export function checkIndexingDirective(call: Call): void {
  const directive = call.header('x-ms-indexing-directive');
  if (directive === undefined || /^(include|exclude|default)$/i.test(directive)) return;
  throw new RequestError(
    400,
    'The value of x-ms-indexing-directive must be Include, Exclude or Default.',
  );
}

/** The request class that the headers name: priority and throughput bucket. */
export function headerRequestClass(call: Call): RequestClass {
  return requestClassAt(call, 1);
}

/** The request class of a read, whose charge depends on its consistency level. */
export function readRequestClass(call: Call): RequestClass {
  return requestClassAt(call, readFactor(readConsistency(call)));
}

function requestClassAt({ headers }: Call, factor: number): RequestClass {
  const priority = headers['x-ms-cosmos-priority-level'];
  const bucket = headers['x-ms-cosmos-throughput-bucket'];
  if (priority === undefined && bucket === undefined)
    return factor === 1 ? NORMAL_CLASS : requestClassOf(false, 0, factor);
  const level = String(priority ?? 'high').toLowerCase();
  if (level !== 'high' && level !== 'low')
    throw new RequestError(400, 'The value of x-ms-cosmos-priority-level must be High or Low.');
  const id = bucket === undefined ? 0 : (toInteger(String(bucket)) ?? -1);
  if (bucket !== undefined && !(id >= 1 && id <= THROUGHPUT_BUCKETS_MAX))
    throw new RequestError(
      400,
      `The value of x-ms-cosmos-throughput-bucket must be 1 to ${THROUGHPUT_BUCKETS_MAX}.`,
    );
  return requestClassOf(level === 'low', id, factor);
}

/** Undefined where the text is not a whole number of at most nine digits. */
export function toInteger(text: string): number | undefined {
  return /^\s*-?\d{1,9}\s*$/.test(text) ? Number(text) : undefined;
}
