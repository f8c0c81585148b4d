/**
 * A PostgreSQL member for the tests of one file. Where PostgreSQL cannot run, tests are reported as skipped, with the
 * reason as their name.
 */
import { randomBytes } from 'node:crypto';
import { describe, it } from 'vitest';
import { type PostgresAddress, parsePostgresAddress } from '../postgres-address.ts';
import { LocalReplicaSet } from './local-replica-set.ts';

type TestMember =
  | {
      readonly isMissing: false;
      /** A schema of its own for every call. */
      readonly address: () => PostgresAddress;
      readonly url: string;
      readonly dispose: () => Promise<void>;
    }
  | { readonly isMissing: true; readonly report: () => void };

/** Starts one member, without the waiting for the disk that only a crash of the machine would need. */
export async function testAddress(): Promise<TestMember> {
  const given = process.env.MESOCOSM_TEST_POSTGRES;
  if (given !== undefined) return present(given, async () => undefined);
  try {
    const set = await LocalReplicaSet.start({ members: 1, settings: { fsync: 'off' } });
    return present(set.url, () => set.stop());
  } catch (error) {
    return { isMissing: true, report: () => reportMissing(error) };
  }
}

/** One skipped test that says why PostgreSQL cannot run. */
export function reportMissing(error: unknown): void {
  const reason = error instanceof Error ? error.message : String(error);
  describe('PostgreSQL', () => {
    it.skipIf(true)(`cannot run here: ${reason}`, () => undefined);
  });
}

function present(url: string, dispose: () => Promise<void>): TestMember {
  return { isMissing: false, url, address: () => addressOf(url), dispose };
}

function addressOf(url: string): PostgresAddress {
  const schema = `test_${randomBytes(6).toString('hex')}`;
  const address = parsePostgresAddress(`${url}?schema=${schema}`);
  if (typeof address === 'string') throw new Error(address);
  return address;
}
