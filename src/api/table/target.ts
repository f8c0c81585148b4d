/**
 * The target of a URL. Accounts are in the path (`/devstoreaccount1/t`) or in the host (`/t`). Keys are in quotation
 * marks, within which a mark is doubled, so that a comma or a parenthesis in a key has no meaning.
 */
import { TableError } from './errors.ts';

/** The account that every emulator has; with this suffix, its secondary, which is read only. */
export const EMULATOR_ACCOUNT = 'devstoreaccount1';
const SECONDARY_SUFFIX = '-secondary';

export type Resource =
  | { readonly kind: 'service' }
  | { readonly kind: 'tables' }
  /** `Tables('t')`: the table itself. */
  | { readonly kind: 'table'; readonly table: string }
  | { readonly kind: 'entities'; readonly table: string }
  | {
      readonly kind: 'entity';
      readonly table: string;
      readonly partitionKey: string;
      readonly rowKey: string;
    }
  /** `t/x`: a path below a table, where nothing exists. */
  | { readonly kind: 'nested'; readonly table: string }
  | { readonly kind: 'batch' };

export interface Target {
  readonly resource: Resource;
  /** The account in the path, without suffix; undefined where the host names it. */
  readonly account: string | undefined;
  readonly isSecondary: boolean;
  /** Where the host is an address, the path begins with the account: true for an account that is not ours. */
  readonly isOfOtherAccount: boolean;
  /** As sent, without the query: what clients sign. */
  readonly path: string;
  readonly query: ReadonlyMap<string, string>;
}

/** @param host - as the client addressed it: may name the secondary of an account. */
export function parseTarget(url: string, host = ''): Target {
  const at = url.indexOf('?');
  const path = at < 0 ? url : url.slice(0, at);
  const query = at < 0 ? NO_QUERY : parseQuery(url.slice(at + 1));
  const segments = segmentsOf(path);
  const first = segments[0] ?? '';
  const isSecondaryPath = first === `${EMULATOR_ACCOUNT}${SECONDARY_SUFFIX}`;
  const isSecondary = isSecondaryPath || isSecondaryHost(host);
  const account = isSecondaryPath || first === EMULATOR_ACCOUNT ? EMULATOR_ACCOUNT : undefined;
  const isOfOtherAccount = account === undefined && segments.length > 1 && ADDRESS.test(host);
  if (isOfOtherAccount)
    return { resource: { kind: 'service' }, account, isSecondary, isOfOtherAccount, path, query };
  const names = account === undefined ? segments : segments.slice(1);
  const resource = parseResource(names);
  return { resource, account, isSecondary, isOfOtherAccount, path, query };
}

/** The segments between slashes. */
function segmentsOf(path: string): string[] {
  const segments: string[] = [];
  for (let at = 0; at < path.length; ) {
    const slash = path.indexOf('/', at);
    const end = slash < 0 ? path.length : slash;
    if (end > at) segments.push(path.slice(at, end));
    at = end + 1;
  }
  return segments;
}

function isSecondaryHost(host: string): boolean {
  return host.includes(SECONDARY_SUFFIX) && host.split('.')[0]?.endsWith(SECONDARY_SUFFIX) === true;
}

/** An IP address, with or without a port. */
const ADDRESS = /^(?:\d+(?:\.\d+){3}|\[[\da-f:.]+\])(?::\d+)?$/i;

const NO_QUERY: ReadonlyMap<string, string> = new Map();

function parseQuery(text: string): ReadonlyMap<string, string> {
  const query = new Map<string, string>();
  for (const field of text.split('&')) {
    if (field === '') continue;
    const at = field.indexOf('=');
    const name = decode((at < 0 ? field : field.slice(0, at)).replaceAll('+', ' '));
    const value = at < 0 ? '' : decode(field.slice(at + 1).replaceAll('+', ' '));
    // Two signatures are refused: which of them counts would be ambiguous.
    if (name === 'sig' && query.has(name)) query.set(name, '');
    else if (!query.has(name)) query.set(name, value);
  }
  return query;
}

function parseResource(segments: readonly string[]): Resource {
  if (segments.length === 0) return { kind: 'service' };
  const text = decode(segments[0] as string);
  if (segments.length === 2) return { kind: 'nested', table: text };
  if (segments.length > 2) throw new TableError('ResourceNotFound');
  if (text === '$batch') return { kind: 'batch' };
  const open = text.indexOf('(');
  if (open < 0) return text === 'Tables' ? { kind: 'tables' } : { kind: 'entities', table: text };
  if (!text.endsWith(')')) throw invalidUrl();
  const name = text.slice(0, open);
  const inside = text.slice(open + 1, -1);
  if (name === 'Tables') return tableOf(inside);
  if (inside === '') return { kind: 'entities', table: name };
  return { kind: 'entity', table: name, ...parseKeys(inside) };
}

function tableOf(inside: string): Resource {
  if (inside === '') return { kind: 'tables' };
  const named = inside.startsWith('TableName=') ? inside.slice('TableName='.length) : inside;
  const literal = readLiteral(named, 0);
  if (literal === undefined || literal.end !== named.length) throw invalidUrl();
  return { kind: 'table', table: literal.text };
}

/** `PartitionKey='p',RowKey='r'`, in either order. */
function parseKeys(text: string): { readonly partitionKey: string; readonly rowKey: string } {
  let partitionKey: string | undefined;
  let rowKey: string | undefined;
  for (let at = 0; at < text.length; ) {
    const equals = text.indexOf('=', at);
    const name = equals < 0 ? '' : text.slice(at, equals).trim();
    const literal = equals < 0 ? undefined : readLiteral(text, equals + 1);
    if (literal === undefined) throw invalidUrl();
    if (name === 'PartitionKey' && partitionKey === undefined) partitionKey = literal.text;
    else if (name === 'RowKey' && rowKey === undefined) rowKey = literal.text;
    else throw invalidUrl();
    at = literal.end;
    if (at === text.length) break;
    if (text[at] !== ',') throw invalidUrl();
    at++;
  }
  if (partitionKey === undefined || rowKey === undefined) throw invalidUrl();
  return { partitionKey, rowKey };
}

/** A text in single quotation marks that begins here; `end` is after its last mark. */
function readLiteral(
  text: string,
  start: number,
): { readonly text: string; readonly end: number } | undefined {
  if (text[start] !== "'") return undefined;
  let isDoubled = false;
  for (let at = text.indexOf("'", start + 1); at >= 0; at = text.indexOf("'", at + 2)) {
    if (text[at + 1] !== "'") {
      const inside = text.slice(start + 1, at);
      return { text: isDoubled ? inside.replaceAll("''", "'") : inside, end: at + 1 };
    }
    isDoubled = true;
  }
  return undefined;
}

function decode(text: string): string {
  if (!text.includes('%')) return text;
  try {
    return decodeURIComponent(text);
  } catch {
    throw invalidUrl();
  }
}

function invalidUrl(): TableError {
  return new TableError('InvalidInput', 'The request URI is invalid.');
}

const PLAIN_KEY = /^[\w.~-]*$/;

/** A key in the form of a URL. */
export function keyLiteral(key: string): string {
  if (PLAIN_KEY.test(key)) return `'${key}'`;
  return `'${encodeURIComponent(key.replaceAll("'", "''")).replaceAll("''", '%27%27')}'`;
}
