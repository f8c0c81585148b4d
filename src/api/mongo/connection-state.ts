/** What one connection remembers between its commands. */
import { randomUUID } from 'node:crypto';
import type { Bytes } from '../../base/index.ts';
import type { ConnectionInfo } from '../../net/index.ts';
import type { Principal } from '../../service/index.ts';
import type { BsonDocument } from '../../value/index.ts';
import type { Grants } from './auth/grants.ts';
import type { ScramExchange } from './auth/scram.ts';
import type { RunningOperation } from './diagnostics/operations.ts';
import { MongoError } from './errors.ts';

interface LastRequest {
  readonly command: string;
  readonly charge: number;
  readonly durationMs: number;
}

export class ConnectionState {
  readonly info: ConnectionInfo;
  /** True: nobody has to log in, and who does may do no less. */
  readonly isOpen: boolean;
  principal: Principal | undefined;
  /** What a user of the database may do; undefined for the account itself, which its principal describes. */
  grants: Grants | undefined;
  user = '';
  userDatabase = '';
  /** The exchange that is under way. */
  scram: { readonly exchange: ScramExchange; readonly skipsEmpty: boolean } | undefined;
  /** True after the proof, while the client still sends one empty round. */
  isFinishing = false;
  /** The last command but `getLastRequestStatistics`, which reports it. */
  last: LastRequest | undefined;
  /** What the client said about itself. */
  client: BsonDocument | undefined;
  appName = '';
  /** True when the client is gone or the server stops: nothing waits any longer. */
  isEnding = false;
  /** True when the client is gone: nobody reads the reply to what is under way. */
  isGone = false;
  /** What is under way, where the client waits for its reply. */
  operation: RunningOperation | undefined;
  /** The changes of the server's state that the client has heard of. */
  reportedChanges = 0;
  #uuid: Bytes | undefined;
  /** Open cursors that began on the connection; drivers read on through any other. */
  readonly cursorIds = new Set<bigint>();

  constructor(info: ConnectionInfo, isOpen: boolean) {
    this.info = info;
    this.isOpen = isOpen;
  }

  /** Names the connection for those who ask. */
  get uuid(): Bytes {
    this.#uuid ??= Buffer.from(randomUUID().replaceAll('-', ''), 'hex');
    return this.#uuid;
  }

  get isAdmitted(): boolean {
    return this.isOpen || this.principal !== undefined;
  }

  mayRead(database: string): boolean {
    return this.isOpen || this.grants === undefined || this.grants.mayRead(database);
  }

  mayWrite(database: string): boolean {
    if (this.isOpen) return true;
    return this.grants?.mayWrite(database) ?? this.principal?.kind === 'master';
  }

  notAuthorized(command: string, database: string): MongoError {
    const reason = this.grants === undefined ? ': the key is read-only' : '';
    const text = `not authorized on ${database} to execute command ${command}${reason}`;
    return new MongoError('Unauthorized', text);
  }
}
