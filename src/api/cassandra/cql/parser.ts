/** The text of one statement to its parts. Types and tables are looked up later, when the statement is prepared. */
import { parseDescribe } from '../describe/describe-parser.ts';
import { syntaxError } from '../errors.ts';
import { parseCreateFunction, parseDropFunction } from '../functions/function-parser.ts';
import { STATEMENT_CHARACTERS_MAX } from '../limits.ts';
import {
  parseAlterRole,
  parseCreateRole,
  parseDropRole,
  parseGrant,
  parseList,
} from '../roles/role-parser.ts';
import { parseAlterView, parseCreateView, parseDropView } from '../views/view-parser.ts';
import type { ParsedStatement, Relation, Statement } from './ast.ts';
import {
  parseAlterType,
  parseCreateIndex,
  parseCreateType,
  parseDropIndex,
  parseDropType,
} from './index-parser.ts';
import {
  parseAlterKeyspace,
  parseAlterTable,
  parseCreateKeyspace,
  parseCreateTable,
  parseDropKeyspace,
  parseDropTable,
  parseTruncate,
} from './schema-parser.ts';
import { parseSelect } from './select-parser.ts';
import { TokenCursor } from './token-cursor.ts';
import { parseWhere } from './where-parser.ts';
import { parseBatch, parseDelete, parseInsert, parseUpdate } from './write-parser.ts';

/** A parser gets the cursor at the first word of its statement. */
type StatementParser = (cursor: TokenCursor) => Statement;

/** By their first two words, or by the first alone; one row for each kind of statement, in order. */
const STATEMENTS: Readonly<Record<string, StatementParser>> = {
  'alter columnfamily': parseAlterTable,
  'alter keyspace': parseAlterKeyspace,
  'alter materialized': parseAlterView,
  'alter role': parseAlterRole,
  'alter schema': parseAlterKeyspace,
  'alter table': parseAlterTable,
  'alter type': parseAlterType,
  'alter user': parseAlterRole,
  begin: parseBatch,
  'create aggregate': parseCreateFunction,
  'create columnfamily': parseCreateTable,
  'create custom': parseCreateIndex,
  'create function': parseCreateFunction,
  'create index': parseCreateIndex,
  'create keyspace': parseCreateKeyspace,
  'create materialized': parseCreateView,
  'create or': parseCreateFunction,
  'create role': parseCreateRole,
  'create schema': parseCreateKeyspace,
  'create table': parseCreateTable,
  'create trigger': later,
  'create type': parseCreateType,
  'create user': parseCreateRole,
  delete: parseDelete,
  desc: parseDescribe,
  describe: parseDescribe,
  'drop aggregate': parseDropFunction,
  'drop columnfamily': parseDropTable,
  'drop function': parseDropFunction,
  'drop index': parseDropIndex,
  'drop keyspace': parseDropKeyspace,
  'drop materialized': parseDropView,
  'drop role': parseDropRole,
  'drop schema': parseDropKeyspace,
  'drop table': parseDropTable,
  'drop trigger': later,
  'drop type': parseDropType,
  'drop user': parseDropRole,
  grant: parseGrant,
  insert: parseInsert,
  list: parseList,
  revoke: parseGrant,
  select: parseSelect,
  truncate: parseTruncate,
  update: parseUpdate,
  use(cursor) {
    cursor.expectWords('use');
    if (cursor.isSymbol('?') || cursor.isSymbol(':'))
      throw syntaxError('Bind variables cannot be used for keyspace names');
    return { kind: 'use', keyspace: cursor.name() };
  },
};

/** Throws CqlError for a text that is no statement. */
export function parseStatement(text: string): ParsedStatement {
  if (text.length > STATEMENT_CHARACTERS_MAX)
    throw syntaxError(`A statement has at most ${STATEMENT_CHARACTERS_MAX} characters`);
  const cursor = new TokenCursor(text);
  const statement = parserFor(cursor)(cursor);
  while (cursor.takeSymbol(';'));
  if (cursor.token.kind !== 'end') throw cursor.mismatch('EOF');
  return { statement, markers: cursor.markers };
}

/** The relations of a WHERE that was kept as text. */
export function parseRelations(text: string): readonly Relation[] {
  return text === '' ? [] : parseWhere(new TokenCursor(text));
}

function parserFor(cursor: TokenCursor): StatementParser {
  const [first, second] = [cursor.token, cursor.peek(1)];
  const words = first.kind === 'word' ? [`${first.text} ${second.text}`, first.text] : [];
  const known = words.find((text) => Object.hasOwn(STATEMENTS, text));
  if (known === undefined) throw cursor.unexpected();
  return STATEMENTS[known] as StatementParser;
}

/** Reads to the end of a statement that is refused when it runs. */
function later(cursor: TokenCursor): Statement {
  const words = [cursor.next().text.toUpperCase()];
  if (cursor.token.kind === 'word') words.push(cursor.token.text.toUpperCase());
  while (cursor.token.kind !== 'end') cursor.next();
  return { kind: 'unsupported', what: words.join(' ') };
}
