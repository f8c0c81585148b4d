/** SELECT. */
import type { Selector, SelectStatement } from './ast.ts';
import { parseTerm } from './term-parser.ts';
import type { TokenCursor } from './token-cursor.ts';
import { parseWhere } from './where-parser.ts';

export function parseSelect(cursor: TokenCursor): SelectStatement {
  cursor.expectWords('select');
  const isJson = isModifier(cursor, 'json') && cursor.takeWords('json');
  const isDistinct = isModifier(cursor, 'distinct') && cursor.takeWords('distinct');
  const selectors = cursor.takeSymbol('*') ? 'all' : cursor.list(() => selector(cursor));
  cursor.expectWords('from');
  const table = cursor.tableName();
  const where = cursor.takeWords('where') ? parseWhere(cursor) : [];
  const groupBy = cursor.takeWords('group', 'by') ? cursor.list(() => cursor.name()) : [];
  const orderBy = cursor.takeWords('order', 'by') ? cursor.list(() => ordering(cursor)) : [];
  const perPartitionLimit = cursor.takeWords('per', 'partition', 'limit')
    ? parseTerm(cursor)
    : undefined;
  const limit = cursor.takeWords('limit') ? parseTerm(cursor) : undefined;
  const allowsFiltering = cursor.takeWords('allow', 'filtering');
  return {
    kind: 'select',
    isJson,
    isDistinct,
    selectors,
    table,
    where,
    groupBy,
    orderBy,
    limit,
    perPartitionLimit,
    allowsFiltering,
  };
}

/** JSON and DISTINCT are names as well: then a comma, a call, an alias or FROM follows. */
function isModifier(cursor: TokenCursor, word: string): boolean {
  if (!cursor.isWord(word)) return false;
  return (
    ![',', '(', '.', '['].some((symbol) => cursor.isSymbol(symbol, 1)) &&
    !cursor.isWord('from', 1) &&
    !cursor.isWord('as', 1)
  );
}

function ordering(cursor: TokenCursor) {
  const column = cursor.name();
  const isDescending = cursor.takeWords('desc');
  if (!isDescending) cursor.takeWords('asc');
  return { column, isDescending };
}

function selector(cursor: TokenCursor): Selector {
  const term = parseTerm(cursor);
  return { term, alias: cursor.takeWords('as') ? cursor.name() : undefined };
}
