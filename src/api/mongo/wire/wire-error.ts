/** The bytes are no message of this protocol. The connection cannot go on. */
export class WireError extends Error {
  override readonly name = 'WireError';
}
