/** DESCRIBE and DESC. */
import type { TokenCursor } from '../cql/token-cursor.ts';
import type { DescribeStatement, DescribeTarget } from './describe-ast.ts';

export function parseDescribe(cursor: TokenCursor): DescribeStatement {
  cursor.next();
  const target = targetOf(cursor);
  const hasInternals = cursor.takeWords('with', 'internals');
  return { kind: 'describe', target, hasInternals };
}

const ELEMENTS = {
  aggregate: 'aggregate',
  columnfamily: 'table',
  function: 'function',
  index: 'index',
  table: 'table',
  type: 'type',
} as const;

const LISTS = ['keyspaces', 'tables', 'types', 'functions', 'aggregates'] as const;

function targetOf(cursor: TokenCursor): DescribeTarget {
  if (cursor.takeWords('cluster')) return { kind: 'cluster' };
  if (cursor.takeWords('full')) {
    cursor.expectWords('schema');
    return { kind: 'schema', isFull: true };
  }
  if (cursor.takeWords('schema')) return { kind: 'schema', isFull: false };
  for (const list of LISTS) if (cursor.takeWords(list)) return { kind: 'list', of: list };
  if (cursor.takeWords('columnfamilies')) return { kind: 'list', of: 'tables' };
  const isOnly = cursor.takeWords('only');
  if (cursor.takeWords('keyspace')) return { kind: 'keyspace', name: optionalName(cursor), isOnly };
  if (cursor.takeWords('materialized', 'view'))
    return { kind: 'element', element: 'view', name: cursor.tableName() };
  for (const [word, element] of Object.entries(ELEMENTS))
    if (cursor.isWord(word) && cursor.peek(1).kind !== 'end' && !cursor.isSymbol(';', 1)) {
      cursor.next();
      return { kind: 'element', element, name: cursor.tableName() };
    }
  return { kind: 'named', name: cursor.tableName() };
}

function optionalName(cursor: TokenCursor): string | undefined {
  const { kind } = cursor.token;
  const isNamed = kind === 'quoted' || (kind === 'word' && !cursor.isWord('with'));
  return isNamed ? cursor.name() : undefined;
}
