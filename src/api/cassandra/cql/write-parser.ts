/** INSERT, UPDATE, DELETE and BATCH. */
import { syntaxError } from '../errors.ts';
import type {
  Assignment,
  BatchStatement,
  DeleteStatement,
  DeleteTarget,
  InsertStatement,
  ModificationStatement,
  Term,
  UpdateStatement,
} from './ast.ts';
import { parseTerm } from './term-parser.ts';
import type { TokenCursor } from './token-cursor.ts';
import { parseConditions, parseUsing, parseWhere } from './where-parser.ts';

export function parseInsert(cursor: TokenCursor): InsertStatement {
  cursor.expectWords('insert', 'into');
  const table = cursor.tableName();
  const source = cursor.takeWords('json') ? jsonSource(cursor) : valuesSource(cursor);
  const conditions = cursor.takeWords('if', 'not', 'exists') ? 'notExists' : undefined;
  return { kind: 'insert', table, source, conditions, using: parseUsing(cursor) };
}

function valuesSource(cursor: TokenCursor): InsertStatement['source'] {
  const columns = cursor.parenthesized(() => cursor.name());
  cursor.expectWords('values');
  return { kind: 'values', columns, terms: cursor.parenthesized(() => parseTerm(cursor)) };
}

function jsonSource(cursor: TokenCursor): InsertStatement['source'] {
  const term = parseTerm(cursor);
  if (!cursor.takeWords('default')) return { kind: 'json', term, keepsUnset: false };
  const keepsUnset = cursor.takeWords('unset');
  if (!keepsUnset) cursor.expectWords('null');
  return { kind: 'json', term, keepsUnset };
}

export function parseUpdate(cursor: TokenCursor): UpdateStatement {
  cursor.expectWords('update');
  const table = cursor.tableName();
  const using = parseUsing(cursor);
  cursor.expectWords('set');
  const assignments = cursor.list(() => assignment(cursor));
  cursor.expectWords('where');
  const where = parseWhere(cursor);
  return { kind: 'update', table, using, assignments, where, conditions: parseConditions(cursor) };
}

function assignment(cursor: TokenCursor): Assignment {
  const column = cursor.name();
  if (cursor.takeSymbol('[')) {
    const element = parseTerm(cursor);
    cursor.expectSymbol(']');
    cursor.expectSymbol('=');
    return { kind: 'element', column, element, term: parseTerm(cursor) };
  }
  if (cursor.takeSymbol('.')) {
    const field = cursor.name();
    cursor.expectSymbol('=');
    return { kind: 'field', column, field, term: parseTerm(cursor) };
  }
  if (cursor.takeSymbol('+='))
    return { kind: 'add', column, term: parseTerm(cursor), isPrepended: false };
  if (cursor.takeSymbol('-='))
    return { kind: 'subtract', column, term: parseTerm(cursor), isPrepended: false };
  cursor.expectSymbol('=');
  return assigned(cursor, column);
}

/** `c = c + 1`, `c = [1] + c`, or a plain term. */
function assigned(cursor: TokenCursor, column: string): Assignment {
  const term = parseTerm(cursor);
  if (term.kind !== 'operation') return { kind: 'set', column, term };
  const { operator, left, right } = term;
  if (isColumn(left, column) && (operator === '+' || operator === '-'))
    return {
      kind: operator === '+' ? 'add' : 'subtract',
      column,
      term: right,
      isPrepended: false,
    };
  if (right.kind === 'column' && operator === '+') {
    if (right.name !== column)
      throw syntaxError('Only expressions of the form X = <value> + X are supported.');
    return { kind: 'add', column, term: left, isPrepended: true };
  }
  if (left.kind === 'column')
    throw syntaxError('Only expressions of the form X = X + <value> are supported.');
  return { kind: 'set', column, term };
}

function isColumn(term: Term, column: string): boolean {
  return term.kind === 'column' && term.name === column;
}

export function parseDelete(cursor: TokenCursor): DeleteStatement {
  cursor.expectWords('delete');
  const targets = cursor.isWord('from') ? [] : cursor.list(() => deleteTarget(cursor));
  cursor.expectWords('from');
  const table = cursor.tableName();
  const using = parseUsing(cursor);
  cursor.expectWords('where');
  const where = parseWhere(cursor);
  return { kind: 'delete', table, targets, using, where, conditions: parseConditions(cursor) };
}

function deleteTarget(cursor: TokenCursor): DeleteTarget {
  const column = cursor.name();
  if (cursor.takeSymbol('.')) return { column, element: undefined, field: cursor.name() };
  if (!cursor.takeSymbol('[')) return { column, element: undefined, field: undefined };
  const element = parseTerm(cursor);
  cursor.expectSymbol(']');
  return { column, element, field: undefined };
}

export function parseBatch(cursor: TokenCursor): BatchStatement {
  cursor.expectWords('begin');
  const type = cursor.takeWords('unlogged')
    ? 'unlogged'
    : cursor.takeWords('counter')
      ? 'counter'
      : 'logged';
  cursor.expectWords('batch');
  const using = parseUsing(cursor);
  const statements: ModificationStatement[] = [];
  while (!cursor.isWord('apply')) {
    statements.push(parseModification(cursor));
    cursor.takeSymbol(';');
  }
  cursor.expectWords('apply', 'batch');
  return { kind: 'batch', type, using, statements };
}

function parseModification(cursor: TokenCursor): ModificationStatement {
  if (cursor.isWord('insert')) return parseInsert(cursor);
  if (cursor.isWord('update')) return parseUpdate(cursor);
  if (cursor.isWord('delete')) return parseDelete(cursor);
  throw cursor.unexpected();
}
