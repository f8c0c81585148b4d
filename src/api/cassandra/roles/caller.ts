/** Who sends the statements of a connection. */

export interface Caller {
  /** The name of the role; the account's name for its keys. */
  readonly role: string;
  /** account: one of its keys. reader: a key that only reads. role: what CREATE ROLE made. */
  readonly kind: 'account' | 'reader' | 'role';
}

/** A connection before its login. */
export const NOBODY: Caller = { role: 'anonymous', kind: 'role' };
