/** A port to attack. */
import { cassandraPort } from './cassandra-port.ts';
import { gremlinPort } from './gremlin-port.ts';
import { mongoPort } from './mongo-port.ts';
import type { RawConnection } from './raw-connection.ts';

export interface ServerAddress {
  readonly port: number;
  /** The endpoint of the NoSQL API, with which some APIs make their containers. */
  readonly endpoint: string;
  /** An account key. */
  readonly key: string;
}

export interface HostilePort {
  readonly api: 'mongo' | 'cassandra' | 'gremlin';
  /**
   * A stock client that does some of everything in a database of this name, from login to the end. Rejects where a part
   * of it fails.
   */
  tour(address: ServerAddress, name: string): Promise<void>;
  /** A stock client that stays connected while others attack; `check` rejects where it is not served. */
  openWitness(address: ServerAddress): Promise<Witness>;
  /** What a stock client reports of a wrong password. */
  wrongPassword(address: ServerAddress): Promise<string>;
  readonly wrongPasswordMessage: RegExp;
  /** The messages of a client, in order; those of the login are left out, for `login` sends its own. */
  messagesIn(sent: Buffer): readonly Buffer[];
  /** Where the length ends in a message: what comes after may be damaged and the message still be whole. */
  readonly bodyAt: number;
  /** Makes a raw connection ready for requests. */
  login(connection: RawConnection, address: ServerAddress): Promise<void>;
  /** A request that always has a response, and whether this is among what was received. */
  readonly sentinel: Buffer;
  isAnswered(received: Buffer): boolean;
  /** The message with another length in its header, such as -1 or 2^31 - 1. */
  withLength(message: Buffer, length: number): Buffer;
}

export interface Witness {
  check(): Promise<void>;
  close(): Promise<void>;
}

export const HOSTILE_PORTS: readonly HostilePort[] = [mongoPort, cassandraPort, gremlinPort];
