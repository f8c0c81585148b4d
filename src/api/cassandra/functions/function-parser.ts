/** CREATE and DROP of functions and aggregates. */
import { parseTerm } from '../cql/term-parser.ts';
import type { TokenCursor } from '../cql/token-cursor.ts';
import type { FunctionStatement } from './function-ast.ts';

/** From CREATE [OR REPLACE] on. */
export function parseCreateFunction(cursor: TokenCursor): FunctionStatement {
  cursor.expectWords('create');
  const replaces = cursor.takeWords('or', 'replace');
  if (cursor.takeWords('aggregate')) return aggregate(cursor, replaces);
  cursor.expectWords('function');
  const ifNotExists = cursor.takeWords('if', 'not', 'exists');
  const name = cursor.tableName();
  const parameters = cursor.parenthesized(() => [cursor.name(), cursor.typeText()] as const);
  const calledOnNull = cursor.takeWords('called');
  if (!calledOnNull) cursor.expectWords('returns', 'null');
  cursor.expectWords('on', 'null', 'input', 'returns');
  const returnType = cursor.typeText();
  cursor.expectWords('language');
  const language = cursor.name();
  cursor.expectWords('as');
  if (cursor.token.kind !== 'string') throw cursor.mismatch('STRING_LITERAL');
  const body = cursor.next().text;
  return {
    kind: 'createFunction',
    name,
    replaces,
    ifNotExists,
    arguments: parameters,
    calledOnNull,
    returnType,
    language,
    body,
  };
}

function aggregate(cursor: TokenCursor, replaces: boolean): FunctionStatement {
  const ifNotExists = cursor.takeWords('if', 'not', 'exists');
  const name = cursor.tableName();
  const argumentTypes = cursor.parenthesized(() => cursor.typeText());
  cursor.expectWords('sfunc');
  const stateFunction = cursor.name();
  cursor.expectWords('stype');
  const stateType = cursor.typeText();
  const finalFunction = cursor.takeWords('finalfunc') ? cursor.name() : undefined;
  const initial = cursor.takeWords('initcond') ? parseTerm(cursor) : undefined;
  return {
    kind: 'createAggregate',
    name,
    replaces,
    ifNotExists,
    argumentTypes,
    stateFunction,
    stateType,
    finalFunction,
    initial,
  };
}

export function parseDropFunction(cursor: TokenCursor): FunctionStatement {
  cursor.next();
  const kind = cursor.next().text === 'aggregate' ? 'dropAggregate' : 'dropFunction';
  const ifExists = cursor.takeWords('if', 'exists');
  const name = cursor.tableName();
  const argumentTypes = cursor.isSymbol('(')
    ? cursor.parenthesized(() => cursor.typeText())
    : undefined;
  return { kind, name, ifExists, argumentTypes };
}
