/**
 * The text of a batch: parts between boundaries, each of which holds one request, or a change set of parts with one
 * request each. Clients differ in line ends, blank lines and the case of headers; all forms are accepted.
 */
import { TableError } from '../errors.ts';
import { BATCH_OPERATIONS_MAX } from '../limits.ts';
import type { Headers } from '../request.ts';

export interface BatchPart {
  readonly method: string;
  /** The URL as it was sent: absolute, or relative to the account. */
  readonly url: string;
  readonly headers: Headers;
  readonly body: string;
  readonly contentId: string | undefined;
}

export type BatchRequest =
  | { readonly kind: 'changes'; readonly parts: readonly BatchPart[] }
  /** A single read outside of a change set. */
  | { readonly kind: 'query'; readonly part: BatchPart };

export function parseBatch(contentType: string | undefined, body: string): BatchRequest {
  const boundary = boundaryOf(contentType ?? '');
  const sections = boundary === undefined ? [] : sectionsOf(body, boundary);
  if (sections.length !== 1) throw malformed();
  const only = sectionOf(sections[0] as string);
  const inner = boundaryOf(only.headers.get('content-type') ?? '');
  if (inner === undefined) return { kind: 'query', part: requestOf(only).part };
  // One part above the limit is enough for the refusal.
  const changes = sectionsOf(only.content, inner).slice(0, BATCH_OPERATIONS_MAX + 1);
  return { kind: 'changes', parts: changeParts(changes) };
}

/** Changes of one kind differ in their bodies only: a head that repeats is read once. */
function changeParts(sections: readonly string[]): readonly BatchPart[] {
  const parts: BatchPart[] = [];
  let head = '';
  let last: BatchPart | undefined;
  for (const section of sections) {
    // Comparing slices is several times as fast as `startsWith`.
    if (last !== undefined && section.slice(0, head.length) === head) {
      const { method, url, headers, contentId } = last;
      parts.push({ method, url, headers, contentId, body: section.slice(head.length).trim() });
      continue;
    }
    const { part, bodyLength } = requestOf(sectionOf(section));
    // Without a body the blank line after the headers may be missing, so further headers may follow: no shared head.
    last = bodyLength === 0 ? undefined : part;
    head = section.slice(0, section.length - bodyLength);
    parts.push(part);
  }
  return parts;
}

interface Section {
  /** Names in lower case. */
  readonly headers: ReadonlyMap<string, string>;
  readonly content: string;
}

/** The longest boundary that RFC 2046 allows. */
const BOUNDARY_LENGTH_MAX = 70 * 4;

function boundaryOf(contentType: string): string | undefined {
  const match = /^\s*multipart\/mixed\s*;.*?\bboundary="?([^";\s]+)"?/i.exec(contentType);
  const boundary = match?.[1];
  return boundary !== undefined && boundary.length <= BOUNDARY_LENGTH_MAX ? boundary : undefined;
}

const CR = 0x0d;
const LF = 0x0a;

/** The parts between boundary lines. The last line may be missing. */
function sectionsOf(text: string, boundary: string): readonly string[] {
  const mark = `--${boundary}`;
  const sections: string[] = [];
  let start = -1;
  for (let at = text.indexOf(mark); at >= 0; at = text.indexOf(mark, at + mark.length)) {
    if (at > 0 && text[at - 1] !== '\n') continue;
    const markEnd = at + mark.length;
    const isBare = text.charCodeAt(markEnd) === CR && text.charCodeAt(markEnd + 1) === LF;
    const lineEnd = isBare ? markEnd + 1 : text.indexOf('\n', at);
    const rest = isBare ? '' : text.slice(markEnd, lineEnd < 0 ? text.length : lineEnd).trim();
    if (rest !== '' && rest !== '--') continue;
    if (start >= 0) sections.push(text.slice(start, at));
    start = lineEnd < 0 || rest === '--' ? -1 : lineEnd + 1;
    if (rest === '--') return sections;
  }
  if (start >= 0 && text.slice(start).trim() !== '') sections.push(text.slice(start));
  return sections;
}

function sectionOf(text: string): Section {
  return readHeaders(text.replace(/^(?:\r?\n)+/, ''));
}

/** Headers up to the first blank line, and the rest. */
function readHeaders(text: string): Section {
  const headers = new Map<string, string>();
  let at = 0;
  while (at < text.length) {
    const end = text.indexOf('\n', at);
    const line = text.slice(at, end < 0 ? text.length : end).replace(/\r$/, '');
    at = end < 0 ? text.length : end + 1;
    if (line.trim() === '') break;
    const colon = line.indexOf(':');
    if (colon <= 0) throw malformed();
    headers.set(line.slice(0, colon).trim().toLowerCase(), line.slice(colon + 1).trim());
  }
  return { headers, content: text.slice(at) };
}

const REQUEST_LINE = /^([A-Z]{3,7}) (\S+) HTTP\/1\.[01]\s*?(?:\r?\n|$)/;

/** Adds the length of the body to the head. */
function requestOf({ headers: outer, content }: Section): {
  readonly part: BatchPart;
  readonly bodyLength: number;
} {
  const text = content.replace(/^\s+/, '');
  const match = REQUEST_LINE.exec(text);
  const [line = '', method = '', url = ''] = match ?? [];
  if (match === null) throw malformed();
  const { headers, content: rest } = readHeaders(text.slice(line.length));
  const part = {
    method: method === 'POST' ? (headers.get('x-http-method') ?? method) : method,
    url,
    headers: (name: string) => headers.get(name),
    body: rest.trim(),
    contentId: outer.get('content-id') ?? headers.get('content-id'),
  };
  return { part, bodyLength: rest.length };
}

function malformed(): TableError {
  return new TableError(
    'InvalidInput',
    'The batch request is not valid: it must be one change set, or one query.',
  );
}
