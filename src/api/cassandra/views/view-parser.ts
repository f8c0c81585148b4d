/** CREATE, ALTER and DROP MATERIALIZED VIEW. */
import type { OptionValue, Relation } from '../cql/ast.ts';
import { parseDirection, parseOption, withOptions } from '../cql/schema-parser.ts';
import type { TokenCursor } from '../cql/token-cursor.ts';
import { parseWhere } from '../cql/where-parser.ts';
import { invalid } from '../errors.ts';
import type { ViewStatement } from './view-ast.ts';

export function parseCreateView(cursor: TokenCursor): ViewStatement {
  cursor.expectWords('create', 'materialized', 'view');
  const ifNotExists = cursor.takeWords('if', 'not', 'exists');
  const view = cursor.tableName();
  cursor.expectWords('as', 'select');
  const columns = cursor.takeSymbol('*') ? undefined : cursor.list(() => selectedColumn(cursor));
  cursor.expectWords('from');
  const base = cursor.tableName();
  const { where, whereText } = whereOf(cursor);
  cursor.expectWords('primary', 'key');
  cursor.expectSymbol('(');
  const partitionKey = cursor.isSymbol('(')
    ? cursor.parenthesized(() => cursor.name())
    : [cursor.name()];
  const clustering = cursor.takeSymbol(',') ? cursor.list(() => cursor.name()) : [];
  cursor.expectSymbol(')');
  const clusteringOrder = new Map<string, 'asc' | 'desc'>();
  const options = new Map<string, OptionValue>();
  if (cursor.takeWords('with'))
    do {
      if (cursor.takeWords('clustering', 'order', 'by'))
        for (const [column, direction] of cursor.parenthesized(() => parseDirection(cursor))) {
          if (clusteringOrder.has(column)) throw orderMismatch();
          clusteringOrder.set(column, direction);
        }
      else parseOption(cursor, options);
    } while (cursor.takeWords('and'));
  return {
    kind: 'createView',
    view,
    ifNotExists,
    base,
    columns,
    where,
    whereText,
    partitionKey,
    clustering,
    clusteringOrder,
    options,
  };
}

/** A column by its name; anything else is refused with its text. */
function selectedColumn(cursor: TokenCursor): string {
  const { from } = cursor.token;
  const name = cursor.name();
  if (cursor.isSymbol(',') || cursor.isWord('from')) return name;
  const isAlias = cursor.isWord('as');
  while (!cursor.isSymbol(',') && !cursor.isWord('from') && cursor.token.kind !== 'end')
    cursor.next();
  const text = cursor.textFrom(from);
  throw invalid(
    isAlias
      ? `Cannot use aliases when defining a materialized view (got ${text})`
      : `Can only select columns by name when defining a materialized view (got ${text})`,
  );
}

export function orderMismatch() {
  return invalid(
    'Clustering key columns must exactly match columns in CLUSTERING ORDER BY directive',
  );
}

/** The relations, and their text, from which they are parsed again. */
function whereOf(cursor: TokenCursor): {
  readonly where: readonly Relation[];
  readonly whereText: string;
} {
  if (!cursor.isWord('where')) return { where: [], whereText: '' };
  cursor.expectWords('where');
  const { from } = cursor.token;
  const markers = cursor.markers.length;
  const where = parseWhere(cursor);
  if (cursor.markers.length > markers)
    throw invalid('Bind variables are not allowed in CREATE MATERIALIZED VIEW statements');
  return { where, whereText: cursor.textFrom(from) };
}

export function parseAlterView(cursor: TokenCursor): ViewStatement {
  cursor.expectWords('alter', 'materialized', 'view');
  const ifExists = cursor.takeWords('if', 'exists');
  return { kind: 'alterView', ifExists, view: cursor.tableName(), options: withOptions(cursor) };
}

export function parseDropView(cursor: TokenCursor): ViewStatement {
  cursor.expectWords('drop', 'materialized', 'view');
  const ifExists = cursor.takeWords('if', 'exists');
  return { kind: 'dropView', ifExists, view: cursor.tableName() };
}
