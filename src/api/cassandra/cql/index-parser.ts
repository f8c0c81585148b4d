/** CREATE and DROP of indexes and of types. */
import type { IndexedPart, IndexStatement, IndexTarget, TypeStatement } from './ast.ts';
import { withOptions } from './schema-parser.ts';
import type { TokenCursor } from './token-cursor.ts';

const PARTS: readonly string[] = ['values', 'keys', 'entries', 'full'];

export function parseCreateIndex(cursor: TokenCursor): IndexStatement {
  cursor.expectWords('create');
  const isCustom = cursor.takeWords('custom');
  cursor.expectWords('index');
  const ifNotExists = cursor.takeWords('if', 'not', 'exists');
  const name = cursor.isWord('on') ? undefined : cursor.tableName();
  if (name?.keyspace !== undefined) throw cursor.unexpected();
  cursor.expectWords('on');
  const table = cursor.tableName();
  const targets = cursor.parenthesized(() => target(cursor));
  let customClass: string | undefined;
  if (cursor.takeWords('using')) {
    if (cursor.token.kind !== 'string') throw cursor.unexpected();
    customClass = cursor.next().text;
  }
  const options = withOptions(cursor);
  return {
    kind: 'createIndex',
    ifNotExists,
    name: name?.name,
    table,
    targets,
    customClass,
    isCustom,
    options,
  };
}

/** A column, or a part of it such as `keys(m)`; `values` may be the name of a column. */
function target(cursor: TokenCursor): IndexTarget {
  const { text } = cursor.token;
  if (!PARTS.includes(text) || !cursor.isSymbol('(', 1))
    return { column: cursor.name(), part: 'simple' };
  cursor.next();
  cursor.expectSymbol('(');
  const column = cursor.name();
  cursor.expectSymbol(')');
  return { column, part: text as IndexedPart };
}

export function parseDropIndex(cursor: TokenCursor): IndexStatement {
  cursor.expectWords('drop', 'index');
  const ifExists = cursor.takeWords('if', 'exists');
  return { kind: 'dropIndex', ifExists, index: cursor.tableName() };
}

export function parseCreateType(cursor: TokenCursor): TypeStatement {
  cursor.expectWords('create', 'type');
  const ifNotExists = cursor.takeWords('if', 'not', 'exists');
  const type = cursor.tableName();
  const fields: (readonly [string, string])[] = [];
  cursor.definitions(() => void fields.push([cursor.name(), cursor.typeText()]));
  return { kind: 'createType', ifNotExists, type, fields };
}

export function parseAlterType(cursor: TokenCursor): TypeStatement {
  cursor.expectWords('alter', 'type');
  const type = cursor.tableName();
  if (cursor.takeWords('add'))
    return {
      kind: 'alterType',
      type,
      change: { kind: 'add', name: cursor.name(), type: cursor.typeText() },
    };
  if (cursor.takeWords('alter')) {
    const name = cursor.name();
    cursor.expectWords('type');
    cursor.typeText();
    return { kind: 'alterType', type, change: { kind: 'alter', name } };
  }
  cursor.expectWords('rename');
  const names: (readonly [string, string])[] = [];
  do {
    const from = cursor.name();
    cursor.expectWords('to');
    names.push([from, cursor.name()]);
  } while (cursor.takeWords('and'));
  return { kind: 'alterType', type, change: { kind: 'rename', names } };
}

export function parseDropType(cursor: TokenCursor): TypeStatement {
  cursor.expectWords('drop', 'type');
  const ifExists = cursor.takeWords('if', 'exists');
  return { kind: 'dropType', ifExists, type: cursor.tableName() };
}
