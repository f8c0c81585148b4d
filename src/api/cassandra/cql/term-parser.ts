/**
 * Terms: constants, bind markers, collections, tuples, calls, and with them arithmetic. Columns, and what is selected of
 * them, are read everywhere; where they may not be, the statement is refused when it is prepared.
 */
import type { Comparison, Operator, Term } from './ast.ts';
import type { TokenCursor } from './token-cursor.ts';

const CONSTANTS = new Set(['string', 'integer', 'float', 'uuid', 'blob', 'duration']);
const COMPARISONS: ReadonlySet<string> = new Set(['=', '<', '<=', '>', '>=', '!=', '<>']);
const NATIVE_NAMES: ReadonlySet<string> = new Set(
  (
    'ascii bigint blob boolean counter date decimal double duration float inet int smallint text time timestamp ' +
    'timeuuid tinyint uuid varchar varint'
  ).split(' '),
);

export function parseTerm(cursor: TokenCursor): Term {
  return cursor.nested(() => sum(cursor));
}

export function parseComparison(cursor: TokenCursor): Comparison {
  const { kind, text } = cursor.token;
  if (kind !== 'symbol' || !COMPARISONS.has(text)) throw cursor.unexpected();
  cursor.next();
  return text === '<>' ? '!=' : (text as Comparison);
}

/** The right side of IN: one marker for all values, or a list in parentheses. */
export function parseInTerms(cursor: TokenCursor): Term | readonly Term[] {
  return isMarker(cursor) ? cursor.marker() : cursor.parenthesized(() => parseTerm(cursor));
}

function isMarker(cursor: TokenCursor): boolean {
  return cursor.isSymbol('?') || cursor.isSymbol(':');
}

function sum(cursor: TokenCursor): Term {
  return chain(cursor, ['+', '-'], () => chain(cursor, ['*', '/', '%'], () => unary(cursor)));
}

/** Operators of one rank are taken from left to right. */
function chain(cursor: TokenCursor, operators: readonly string[], operand: () => Term): Term {
  let left = operand();
  for (;;) {
    const { kind, text } = cursor.token;
    if (kind !== 'symbol' || !operators.includes(text)) return left;
    cursor.next();
    left = { kind: 'operation', operator: text as Operator, left, right: operand() };
  }
}

function unary(cursor: TokenCursor): Term {
  if (!cursor.takeSymbol('-')) return selected(cursor, simple(cursor));
  const { kind, text } = cursor.token;
  const isNumber = kind === 'integer' || kind === 'float' || kind === 'duration';
  if (isNumber || (kind === 'word' && (text === 'infinity' || text === 'nan'))) {
    cursor.next();
    return { kind: 'constant', constant: isNumber ? kind : 'float', text: `-${spelled(text)}` };
  }
  return { kind: 'negation', term: cursor.nested(() => unary(cursor)) };
}

/** Fields, elements and slices of what stands before them. */
function selected(cursor: TokenCursor, of: Term): Term {
  let term = of;
  for (;;) {
    if (cursor.takeSymbol('.')) term = { kind: 'field', of: term, field: cursor.name() };
    else if (isSelectable(term) && cursor.takeSymbol('[')) term = bracketedPart(cursor, term);
    else return term;
  }
}

function isSelectable({ kind }: Term): boolean {
  return kind === 'column' || kind === 'field' || kind === 'element' || kind === 'slice';
}

function bracketedPart(cursor: TokenCursor, of: Term): Term {
  const from = cursor.isSymbol('..') ? undefined : parseTerm(cursor);
  if (cursor.takeSymbol('..')) {
    const to = cursor.isSymbol(']') ? undefined : parseTerm(cursor);
    cursor.expectSymbol(']');
    return { kind: 'slice', of, from, to };
  }
  cursor.expectSymbol(']');
  return { kind: 'element', of, element: from as Term };
}

function simple(cursor: TokenCursor): Term {
  if (isMarker(cursor)) return cursor.marker();
  if (cursor.isSymbol('[')) return bracketed(cursor);
  if (cursor.isSymbol('{')) return braced(cursor);
  if (cursor.isSymbol('(')) return tupleOrHint(cursor);
  const { kind, text } = cursor.token;
  if (CONSTANTS.has(kind)) {
    cursor.next();
    return { kind: 'constant', constant: kind as 'string', text };
  }
  if (kind === 'word') return wordTerm(cursor, text);
  if (kind === 'quoted') return columnOrCall(cursor);
  throw cursor.unexpected();
}

function wordTerm(cursor: TokenCursor, text: string): Term {
  switch (text) {
    case 'null':
      cursor.next();
      return { kind: 'null' };
    case 'true':
    case 'false':
      if (cursor.isSymbol('(', 1)) return columnOrCall(cursor);
      cursor.next();
      return { kind: 'constant', constant: 'boolean', text };
    case 'nan':
    case 'infinity':
      cursor.next();
      return { kind: 'constant', constant: 'float', text: spelled(text) };
    case 'cast':
      return cursor.isSymbol('(', 1) ? castAs(cursor) : columnOrCall(cursor);
    case 'count':
      return isCountAll(cursor) ? countAll(cursor) : columnOrCall(cursor);
    default:
      return columnOrCall(cursor);
  }
}

function spelled(text: string): string {
  return text === 'nan' ? 'NaN' : text === 'infinity' ? 'Infinity' : text;
}

function isCountAll(cursor: TokenCursor): boolean {
  const { kind, text } = cursor.peek(2);
  return (
    cursor.isSymbol('(', 1) &&
    cursor.isSymbol(')', 3) &&
    ((kind === 'symbol' && text === '*') || (kind === 'integer' && text === '1'))
  );
}

function countAll(cursor: TokenCursor): Term {
  for (let left = 4; left > 0; left--) cursor.next();
  return { kind: 'countAll' };
}

function columnOrCall(cursor: TokenCursor): Term {
  const isToken = cursor.isWord('token') && cursor.isSymbol('(', 1);
  const name = isToken ? cursor.next().text : cursor.name();
  if (cursor.isSymbol('(')) return call(cursor, undefined, name);
  // A name with a keyspace is a function; otherwise the point selects a field.
  if (cursor.isSymbol('.') && cursor.isSymbol('(', 2)) {
    cursor.next();
    return call(cursor, name, cursor.name());
  }
  return { kind: 'column', name };
}

function call(cursor: TokenCursor, keyspace: string | undefined, name: string): Term {
  return { kind: 'call', keyspace, name, arguments: cursor.parenthesized(() => parseTerm(cursor)) };
}

function castAs(cursor: TokenCursor): Term {
  cursor.next();
  cursor.expectSymbol('(');
  const term = parseTerm(cursor);
  cursor.expectWords('as');
  const type = cursor.typeText();
  cursor.expectSymbol(')');
  return { kind: 'castAs', term, type };
}

function bracketed(cursor: TokenCursor): Term {
  cursor.expectSymbol('[');
  const elements = cursor.isSymbol(']') ? [] : cursor.list(() => parseTerm(cursor));
  cursor.expectSymbol(']');
  return { kind: 'list', elements };
}

function braced(cursor: TokenCursor): Term {
  cursor.expectSymbol('{');
  if (cursor.takeSymbol('}')) return { kind: 'set', elements: [] };
  const { kind, text } = cursor.token;
  const isName = kind === 'quoted' || (kind === 'word' && !VALUE_WORDS.has(text));
  if (isName && cursor.isSymbol(':', 1)) return fields(cursor);
  const first = parseTerm(cursor);
  if (!cursor.takeSymbol(':')) {
    const rest = cursor.takeSymbol(',') ? cursor.list(() => parseTerm(cursor)) : [];
    cursor.expectSymbol('}');
    return { kind: 'set', elements: [first, ...rest] };
  }
  const entries: (readonly [Term, Term])[] = [[first, parseTerm(cursor)]];
  while (cursor.takeSymbol(',')) {
    const key = parseTerm(cursor);
    cursor.expectSymbol(':');
    entries.push([key, parseTerm(cursor)]);
  }
  cursor.expectSymbol('}');
  return { kind: 'map', entries };
}

/** Words that are values, not names of fields. */
const VALUE_WORDS: ReadonlySet<string> = new Set(['null', 'true', 'false', 'nan', 'infinity']);

function fields(cursor: TokenCursor): Term {
  const parsed = cursor.list((): readonly [string, Term] => {
    const name = cursor.name();
    cursor.expectSymbol(':');
    return [name, parseTerm(cursor)];
  });
  cursor.expectSymbol('}');
  return { kind: 'user', fields: parsed };
}

/** `(int) ?` gives a term its type; `(1, 2)` is a tuple. */
function tupleOrHint(cursor: TokenCursor): Term {
  if (!isHint(cursor)) {
    const elements = cursor.parenthesized(() => parseTerm(cursor));
    if (elements.length === 0) throw cursor.unexpected();
    return { kind: 'tuple', elements };
  }
  cursor.expectSymbol('(');
  const type = cursor.typeText();
  cursor.expectSymbol(')');
  return { kind: 'hint', type, term: cursor.nested(() => unary(cursor)) };
}

/** A type in parentheses, and behind it the beginning of a term. */
function isHint(cursor: TokenCursor): boolean {
  const { kind, text } = cursor.peek(1);
  if (kind !== 'word' && kind !== 'quoted') return false;
  if (cursor.isSymbol('<', 2)) return true;
  const end = cursor.isSymbol('.', 2) ? 4 : 2;
  if (!cursor.isSymbol(')', end)) return false;
  const next = cursor.peek(end + 1);
  if (next.kind === 'end') return false;
  if (next.kind === 'word') return !AFTER_TERM.has(next.text);
  if (next.kind !== 'symbol') return true;
  if (next.text === '-') return kind === 'word' && NATIVE_NAMES.has(text);
  return ['(', '[', '{', '?', ':'].includes(next.text);
}

/** Words that may follow a term in parentheses. */
const AFTER_TERM: ReadonlySet<string> = new Set([
  'and',
  'as',
  'from',
  'if',
  'limit',
  'allow',
  'order',
  'group',
  'per',
  'using',
  'where',
  'apply',
]);
