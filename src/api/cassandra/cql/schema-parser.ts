/** CREATE, ALTER, DROP and TRUNCATE of keyspaces and tables. */
import { invalid, syntaxError } from '../errors.ts';
import type {
  ColumnDefinition,
  Options,
  OptionValue,
  SchemaStatement,
  TableChange,
} from './ast.ts';
import { parseTerm } from './term-parser.ts';
import type { TokenCursor } from './token-cursor.ts';

export function parseCreateKeyspace(cursor: TokenCursor): SchemaStatement {
  cursor.next();
  cursor.next();
  const ifNotExists = cursor.takeWords('if', 'not', 'exists');
  const name = cursor.name();
  if (!cursor.isWord('with')) throw cursor.mismatch('K_WITH');
  return { kind: 'createKeyspace', ifNotExists, name, options: withOptions(cursor) };
}

export function parseAlterKeyspace(cursor: TokenCursor): SchemaStatement {
  cursor.next();
  cursor.next();
  const ifExists = cursor.takeWords('if', 'exists');
  const name = cursor.name();
  if (!cursor.isWord('with')) throw cursor.mismatch('K_WITH');
  return { kind: 'alterKeyspace', ifExists, name, options: withOptions(cursor) };
}

export function parseAlterTable(cursor: TokenCursor): SchemaStatement {
  cursor.next();
  cursor.next();
  const ifExists = cursor.takeWords('if', 'exists');
  return { kind: 'alterTable', ifExists, table: cursor.tableName(), change: tableChange(cursor) };
}

export function parseDropKeyspace(cursor: TokenCursor): SchemaStatement {
  cursor.next();
  cursor.next();
  const ifExists = cursor.takeWords('if', 'exists');
  return { kind: 'dropKeyspace', ifExists, name: cursor.name() };
}

export function parseDropTable(cursor: TokenCursor): SchemaStatement {
  cursor.next();
  cursor.next();
  const ifExists = cursor.takeWords('if', 'exists');
  return { kind: 'dropTable', ifExists, table: cursor.tableName() };
}

export function parseTruncate(cursor: TokenCursor): SchemaStatement {
  cursor.expectWords('truncate');
  if (!cursor.takeWords('table')) cursor.takeWords('columnfamily');
  return { kind: 'truncate', table: cursor.tableName() };
}

interface TableParts {
  readonly columns: ColumnDefinition[];
  partitionKey: readonly string[];
  clustering: readonly string[];
}

export function parseCreateTable(cursor: TokenCursor): SchemaStatement {
  cursor.next();
  cursor.next();
  const ifNotExists = cursor.takeWords('if', 'not', 'exists');
  const table = cursor.tableName();
  const parts: TableParts = { columns: [], partitionKey: [], clustering: [] };
  cursor.definitions(() => tablePart(cursor, parts));
  const clusteringOrder = new Map<string, 'asc' | 'desc'>();
  const options = new Map<string, OptionValue>();
  let isCompact = false;
  if (cursor.takeWords('with'))
    do {
      if (cursor.takeWords('compact', 'storage')) isCompact = true;
      else if (cursor.takeWords('clustering', 'order', 'by'))
        for (const [column, direction] of cursor.parenthesized(() => parseDirection(cursor)))
          clusteringOrder.set(column, direction);
      else parseOption(cursor, options);
    } while (cursor.takeWords('and'));
  const { columns, partitionKey, clustering } = parts;
  return {
    kind: 'createTable',
    ifNotExists,
    table,
    columns,
    partitionKey,
    clustering,
    clusteringOrder,
    isCompact,
    options,
  };
}

export function parseDirection(cursor: TokenCursor): readonly [string, 'asc' | 'desc'] {
  const column = cursor.name();
  if (cursor.takeWords('desc')) return [column, 'desc'];
  cursor.takeWords('asc');
  return [column, 'asc'];
}

function tablePart(cursor: TokenCursor, parts: TableParts): void {
  if (cursor.isWord('primary') && cursor.isWord('key', 1)) {
    cursor.expectWords('primary', 'key');
    if (parts.partitionKey.length > 0)
      throw invalid('Multiple PRIMARY KEY specifed (exactly one required)');
    cursor.expectSymbol('(');
    parts.partitionKey = cursor.isSymbol('(')
      ? cursor.parenthesized(() => cursor.name())
      : [cursor.name()];
    parts.clustering = cursor.takeSymbol(',') ? cursor.list(() => cursor.name()) : [];
    cursor.expectSymbol(')');
    return;
  }
  const column = columnDefinition(cursor);
  parts.columns.push(column);
  if (!cursor.takeWords('primary', 'key')) return;
  if (parts.partitionKey.length > 0)
    throw invalid('Multiple PRIMARY KEY specifed (exactly one required)');
  parts.partitionKey = [column.name];
}

function columnDefinition(cursor: TokenCursor): ColumnDefinition {
  const name = cursor.name();
  const type = cursor.typeText();
  return { name, type, isStatic: cursor.takeWords('static') };
}

function tableChange(cursor: TokenCursor): TableChange {
  if (cursor.takeWords('add')) {
    const ifNotExists = cursor.takeWords('if', 'not', 'exists');
    const columns = cursor.isSymbol('(')
      ? cursor.parenthesized(() => columnDefinition(cursor))
      : cursor.list(() => columnDefinition(cursor));
    return { kind: 'add', columns, ifNotExists };
  }
  if (cursor.takeWords('drop', 'compact', 'storage')) return { kind: 'dropCompact' };
  if (cursor.takeWords('drop')) return droppedColumns(cursor);
  if (cursor.takeWords('alter')) {
    const column = cursor.name();
    cursor.expectWords('type');
    cursor.typeText();
    return { kind: 'alterColumn', column };
  }
  if (cursor.takeWords('rename')) {
    const names: (readonly [string, string])[] = [];
    do {
      const from = cursor.name();
      cursor.expectWords('to');
      names.push([from, cursor.name()]);
    } while (cursor.takeWords('and'));
    return { kind: 'rename', names };
  }
  if (!cursor.isWord('with')) throw cursor.unexpected();
  return { kind: 'with', options: withOptions(cursor) };
}

function droppedColumns(cursor: TokenCursor): TableChange {
  const ifExists = cursor.takeWords('if', 'exists');
  const columns = cursor.isSymbol('(')
    ? cursor.parenthesized(() => cursor.name())
    : cursor.list(() => cursor.name());
  if (!cursor.takeWords('using')) return { kind: 'drop', columns, ifExists, timestamp: undefined };
  cursor.expectWords('timestamp');
  const { kind, text } = cursor.next();
  if (kind !== 'integer') throw cursor.unexpected();
  return { kind: 'drop', columns, ifExists, timestamp: BigInt(text) };
}

export function withOptions(cursor: TokenCursor): Options {
  const options = new Map<string, OptionValue>();
  if (cursor.takeWords('with'))
    do parseOption(cursor, options);
    while (cursor.takeWords('and'));
  return options;
}

export function parseOption(cursor: TokenCursor, options: Map<string, OptionValue>): void {
  const name = cursor.name();
  cursor.expectSymbol('=');
  if (options.has(name)) throw syntaxError(`Multiple definition for property '${name}'`);
  options.set(name, optionValue(cursor));
}

function optionValue(cursor: TokenCursor): OptionValue {
  if (!cursor.isSymbol('{')) return optionText(cursor);
  const term = parseTerm(cursor);
  const entries = term.kind === 'map' ? term.entries : [];
  if (term.kind !== 'map' && (term.kind !== 'set' || term.elements.length > 0))
    throw cursor.unexpected();
  const names = new Set<string>();
  return new Map(
    entries.map(([key, value]) => {
      if (key.kind !== 'constant' || value.kind !== 'constant') throw cursor.unexpected();
      if (names.has(key.text)) throw syntaxError(`Multiple definition for property '${key.text}'`);
      names.add(key.text);
      return [key.text, value.text];
    }),
  );
}

function optionText(cursor: TokenCursor): string {
  if (cursor.token.kind === 'word') return cursor.next().text;
  const term = parseTerm(cursor);
  if (term.kind !== 'constant') throw cursor.unexpected();
  return term.text;
}
