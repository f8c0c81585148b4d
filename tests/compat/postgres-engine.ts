/**
 * The PostgreSQL engine for the suites of all APIs: with MESOCOSM_TEST_ENGINE=postgres every account is a schema of its own
 * on the server of MESOCOSM_TEST_POSTGRES, whatever engine the test asks for.
 */
import { createHash, randomBytes } from 'node:crypto';
import type { Engine } from '../../src/engine/index.ts';
import { openPostgresEngine, parsePostgresAddress } from '../../src/engine/postgres/index.ts';

interface TestEngine {
  readonly engine: Engine;
  removeData(): void;
}

/** @param directory - an account that is opened again with the same directory finds its data. */
export async function postgresEngine(directory?: string): Promise<TestEngine | undefined> {
  if (process.env.MESOCOSM_TEST_ENGINE !== 'postgres') return undefined;
  const name =
    directory === undefined
      ? randomBytes(8).toString('hex')
      : createHash('sha256').update(directory).digest('hex').slice(0, 16);
  const url = `${process.env.MESOCOSM_TEST_POSTGRES}?schema=test_${name}`;
  const address = parsePostgresAddress(url);
  if (typeof address === 'string') throw new Error(`MESOCOSM_TEST_POSTGRES: ${address}`);
  const engine = await openPostgresEngine({ address, checksQuorum: false });
  return { engine, removeData: () => undefined };
}
