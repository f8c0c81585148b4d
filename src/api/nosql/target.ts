/**
 * The resource that a request path names. Paths alternate kinds and ids: /dbs/{id}/colls/{id}/docs/{id}. An even number of
 * segments names one resource, an odd number a feed of its parent. Doubled and trailing slashes are ignored.
 */
import { DomainError } from '../../base/index.ts';

export interface Target {
  /** The kinds along the path, such as `dbs/colls/docs`; empty for the account. */
  readonly shape: string;
  readonly isFeed: boolean;
  /** The decoded ids along the path: database, container, item. */
  readonly ids: readonly string[];
  /** The link that clients sign: the resource's own, or its parent's for a feed. Decoded, no slash at either end. */
  readonly link: string;
}

const SLASH = 0x2f;
const SEGMENTS_MAX = 10;

/** Throws `invalidInput` where an id is not percent-encoded UTF-8. Unknown shapes are refused by the router. */
export function parseTarget(url: string): Target {
  const query = url.indexOf('?');
  if (query < 0) return parsePath(url);
  // The API has no query strings, and item ids may hold a question mark that common clients do not encode.
  const whole = parsePath(url);
  const isItem = whole.shape === 'dbs/colls/docs' && !whole.isFeed;
  return isItem && url.lastIndexOf('/') < query ? whole : parsePath(url.slice(0, query));
}

function parsePath(path: string): Target {
  const segments = split(path);
  const count = segments.length;
  const isFeed = (count & 1) === 1;
  let shape = count === 0 ? '' : (segments[0] as string);
  let link = isFeed && count === 1 ? '' : shape;
  const ids: string[] = [];
  for (let at = 1; at < count; at++) {
    const segment = segments[at] as string;
    const isId = (at & 1) === 1;
    if (isId) ids.push(segment);
    else shape += `/${segment}`;
    if (!isFeed || at < count - 1) link += `/${segment}`;
  }
  return { shape, isFeed, ids, link };
}

function split(path: string): string[] {
  const segments: string[] = [];
  let start = 0;
  for (let at = 0; at <= path.length; at++) {
    if (at < path.length && path.charCodeAt(at) !== SLASH) continue;
    if (at > start) {
      if (segments.length === SEGMENTS_MAX) throw new DomainError('invalidInput', PATH_TOO_LONG);
      segments.push(decode(path.slice(start, at)));
    }
    start = at + 1;
  }
  return segments;
}

function decode(segment: string): string {
  if (!segment.includes('%')) return segment;
  try {
    return decodeURIComponent(segment);
  } catch {
    throw new DomainError('invalidInput', 'The request path is not valid percent-encoded UTF-8.');
  }
}

const PATH_TOO_LONG = 'The request path has more segments than any resource of this API.';
