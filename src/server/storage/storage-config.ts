/** Where the data are, as the flags say it. */
import { type PostgresAddress, parsePostgresAddress } from '../../engine/postgres/index.ts';
import { ExitError } from '../exit-error.ts';

export type StorageConfig =
  | { readonly kind: 'directory'; readonly path: string }
  | { readonly kind: 'memory' }
  | {
      readonly kind: 'postgres';
      readonly address: PostgresAddress;
      /** `any`: fewer replicas than three of four are taken. */
      readonly replicas: 'quorum' | 'any';
      /** Another node that uses the data loses it. */
      readonly takesOver: boolean;
    };

/** Throws ExitError 2. The address may have a password, so the message does not repeat it. */
export function parseEngine(
  given: { readonly text: string; readonly source: string },
  password: string | undefined,
): PostgresAddress {
  const address = parsePostgresAddress(given.text, password);
  if (typeof address !== 'string') return address;
  throw new ExitError(2, `${given.source}: allowed is ${address}.`);
}
