/** Bounds of one connection, each with its reason. Tests give their own. */

export interface ConnectionLimits {
  /** A client that has connected speaks first, at once. */
  readonly firstByteMs: number;
  /** The longest message of any protocol is 48 MB: enough for it over a slow connection. */
  readonly messageMs: number;
  /** A client that has not taken a single byte of what waits for it in this time will not take the rest. */
  readonly stalledMs: number;
  /**
   * Drivers keep pooled connections without using them, and some do not connect again; TCP probes find the clients that
   * vanished. The connection strings of the reference service make clients close theirs after two minutes.
   */
  readonly idleMs: number;
  /** The time that a client has to close its half after the server has closed its own. */
  readonly lingerMs: number;
  /** While more than this is unsent, nothing is read. */
  readonly unsentBytesHigh: number;
  /** The connection of a protocol that goes on writing is ended here: some replies of the longest kind. */
  readonly unsentBytesMax: number;
}

const MIB = 1024 ** 2;

export const CONNECTION_LIMITS: ConnectionLimits = {
  firstByteMs: 30_000,
  messageMs: 120_000,
  stalledMs: 60_000,
  idleMs: 30 * 60_000,
  lingerMs: 5000,
  unsentBytesHigh: MIB,
  unsentBytesMax: 128 * MIB,
};
