/** Makes the tables of an account where there are none, checks their version, and takes the account for this node. */
import { FormatError } from '../engine.ts';
import { int8, readInt8, readText } from './connect/postgres-messages.ts';
import { type PostgresSession, StatementError } from './connect/postgres-session.ts';
import {
  accountStatements,
  CREATE_TABLES,
  FORMAT_VERSION,
  unnamed,
} from './postgres-statements.ts';

/** SQLSTATEs of two nodes that create the same tables at once. */
const RACES: ReadonlySet<string> = new Set(['23505', '42P06', '42P07', 'XX000']);

/** Throws FormatError where a newer program made the tables. */
export async function prepareSchema(session: PostgresSession, schema: string): Promise<void> {
  const exists = unnamed(
    `SELECT count(*) FROM pg_tables WHERE schemaname = $1 AND tablename = 'settings'`,
  );
  const [row] = await session.rows(exists, Buffer.from(schema));
  if (readInt8(row?.[0]) === 0) await create(session, schema);
  const format = unnamed(`SELECT value FROM ${schema}.settings WHERE name = 'format'`);
  const [found] = await session.rows(format);
  const version = readText(found?.[0]);
  if (version !== String(FORMAT_VERSION))
    throw new FormatError(
      `the tables in schema ${schema} have format version ${version || 'none'}; this program understands: ${FORMAT_VERSION}. Use the program version that wrote them.`,
    );
}

async function create(session: PostgresSession, schema: string): Promise<void> {
  try {
    await session.run(
      CREATE_TABLES(schema).map((text) => ({ statement: unnamed(text), parameters: [] })),
    );
  } catch (error) {
    if (!(error instanceof StatementError && RACES.has(error.report.code))) throw error;
  }
}

/** A lease greater than all before. From now on no earlier node can write to any store. */
export async function takeAccount(session: PostgresSession, schema: string): Promise<number> {
  const { newLease, takeStores } = accountStatements(schema);
  const [row] = await session.rows(newLease);
  const lease = readInt8(row?.[0]);
  await session.rows(takeStores, int8(lease));
  return lease;
}
