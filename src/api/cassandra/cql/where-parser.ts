/** WHERE, IF and USING, which several statements share. */
import type { Condition, Conditions, Relation, Term, Using } from './ast.ts';
import { parseComparison, parseInTerms, parseTerm } from './term-parser.ts';
import type { TokenCursor } from './token-cursor.ts';

export function parseWhere(cursor: TokenCursor): readonly Relation[] {
  const relations = [relation(cursor)];
  while (cursor.takeWords('and')) relations.push(relation(cursor));
  return relations.flat();
}

function relation(cursor: TokenCursor): readonly Relation[] {
  if (cursor.isWord('token') && cursor.isSymbol('(', 1)) {
    cursor.next();
    const columns = cursor.parenthesized(() => cursor.name());
    const operator = parseComparison(cursor);
    return [{ kind: 'token', columns, operator, term: parseTerm(cursor) }];
  }
  if (cursor.isSymbol('(')) return cursor.nested(() => columnsRelation(cursor));
  return [columnRelation(cursor)];
}

/** The only function on the left of a comparison, beside token: it is kept as a column of a name that none has. */
function feedRelation(cursor: TokenCursor): Relation {
  cursor.next();
  cursor.expectSymbol('(');
  cursor.expectSymbol(')');
  cursor.expectSymbol('=');
  return { kind: 'column', column: CHANGE_FEED_START, operator: '=', term: parseTerm(cursor) };
}

export const CHANGE_FEED_START = 'cosmos_changefeed_start_time()';

function columnRelation(cursor: TokenCursor): Relation {
  if (cursor.isWord('cosmos_changefeed_start_time') && cursor.isSymbol('(', 1))
    return feedRelation(cursor);
  const column = cursor.name();
  if (cursor.takeWords('in')) return { kind: 'in', column, terms: parseInTerms(cursor) };
  if (cursor.takeWords('contains')) {
    const operator = cursor.takeWords('key') ? 'CONTAINS KEY' : 'CONTAINS';
    return { kind: 'column', column, operator, term: parseTerm(cursor) };
  }
  if (cursor.takeWords('like'))
    return { kind: 'column', column, operator: 'LIKE', term: parseTerm(cursor) };
  if (cursor.takeWords('is')) {
    cursor.expectWords('not', 'null');
    return { kind: 'notNull', column };
  }
  if (cursor.takeSymbol('[')) {
    const element = parseTerm(cursor);
    cursor.expectSymbol(']');
    const operator = parseComparison(cursor);
    return { kind: 'element', column, element, operator, term: parseTerm(cursor) };
  }
  const operator = parseComparison(cursor);
  return { kind: 'column', column, operator, term: parseTerm(cursor) };
}

/** `(a, b) > (1, 2)`, or relations in parentheses. */
function columnsRelation(cursor: TokenCursor): readonly Relation[] {
  if (!cursor.isSymbol(',', 2) && !cursor.isSymbol(')', 2) && !cursor.isSymbol(')', 1)) {
    cursor.expectSymbol('(');
    const inside = parseWhere(cursor);
    cursor.expectSymbol(')');
    return inside;
  }
  const columns = cursor.parenthesized(() => cursor.name());
  if (columns.length === 0) throw cursor.unexpected();
  if (cursor.takeWords('in')) return [{ kind: 'columnsIn', columns, terms: parseInTerms(cursor) }];
  const operator = parseComparison(cursor);
  return [{ kind: 'columns', columns, operator, term: parseTerm(cursor) }];
}

export function parseUsing(cursor: TokenCursor): Using {
  let timestamp: Term | undefined;
  let ttl: Term | undefined;
  if (cursor.takeWords('using'))
    do {
      if (cursor.takeWords('timestamp')) timestamp = parseTerm(cursor);
      else if (cursor.takeWords('ttl')) ttl = parseTerm(cursor);
      else throw cursor.unexpected();
    } while (cursor.takeWords('and'));
  return { timestamp, ttl };
}

/** IF EXISTS, or IF with conditions. */
export function parseConditions(cursor: TokenCursor): Conditions {
  if (!cursor.takeWords('if')) return undefined;
  if (cursor.takeWords('exists')) return 'exists';
  const conditions = [condition(cursor)];
  while (cursor.takeWords('and')) conditions.push(condition(cursor));
  return conditions;
}

function condition(cursor: TokenCursor): Condition {
  const column = cursor.name();
  let element: Term | undefined;
  let field: string | undefined;
  if (cursor.takeSymbol('[')) {
    element = parseTerm(cursor);
    cursor.expectSymbol(']');
  } else if (cursor.takeSymbol('.')) field = cursor.name();
  const target = { column, element, field };
  if (cursor.takeWords('in')) return { kind: 'in', ...target, terms: parseInTerms(cursor) };
  const isWhole = element === undefined && field === undefined;
  if (isWhole && cursor.takeWords('contains')) {
    const operator = cursor.takeWords('key') ? 'CONTAINS KEY' : 'CONTAINS';
    return { kind: 'column', ...target, operator, term: parseTerm(cursor) };
  }
  const operator = parseComparison(cursor);
  return { kind: 'column', ...target, operator, term: parseTerm(cursor) };
}
