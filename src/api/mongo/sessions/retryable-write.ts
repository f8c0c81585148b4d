/** The identity of a write that the client may send again, and the notes by which it is recognized. */
import type { Bytes } from '../../../base/index.ts';
import type { WriteNote } from '../../../partition/index.ts';
import {
  type Bson,
  type BsonDocument,
  Extended,
  isArray,
  isDocument,
} from '../../../value/index.ts';
import { wholeNumber } from '../bson/arithmetic.ts';
import { MongoError } from '../errors.ts';
import { RETRY_NOTE_SEC } from '../limits.ts';

const SESSION_BYTES = 16;

/** Commands whose writes may be sent again; others have no use for a number. */
const RETRYABLE_COMMANDS: ReadonlySet<string> = new Set([
  'abortTransaction',
  'bulkWrite',
  'commitTransaction',
  'delete',
  'findAndModify',
  'findandmodify',
  'insert',
  'update',
]);

export class RetryableWrite {
  readonly #session: Bytes;
  readonly #number: bigint;
  readonly #statementIds: readonly number[];
  readonly #expiresAtSec: number;
  /** The statements of this command that had been applied before. */
  readonly repeated: number[] = [];

  private constructor(
    session: Bytes,
    number: bigint,
    statementIds: readonly number[],
    expiresAtSec: number,
  ) {
    this.#session = session;
    this.#number = number;
    this.#statementIds = statementIds;
    this.#expiresAtSec = expiresAtSec;
  }

  /** Undefined where the command has no number, or belongs to a transaction. Throws InvalidOptions. */
  static of(command: BsonDocument, name: string, nowMs: number): RetryableWrite | undefined {
    const number = command.get('txnNumber') ?? undefined;
    if (number === undefined || command.get('autocommit') === false) return undefined;
    if (!RETRYABLE_COMMANDS.has(name))
      throw new MongoError(
        'Location50768',
        `txnNumber may only be provided for multi-document transactions and retryable write commands. autocommit:false was not provided, and ${name} is not a retryable write command.`,
      );
    const session = sessionOf(command);
    if (session === undefined || typeof number !== 'bigint')
      throw new MongoError(
        'InvalidOptions',
        "Transaction number requires a session ID to also be specified, and is of type 'long'",
      );
    const sent = command.get('stmtIds');
    const ids = isArray(sent) ? sent.map((id) => wholeNumber(id) ?? 0) : [];
    return new RetryableWrite(session, number, ids, Math.floor(nowMs / 1000) + RETRY_NOTE_SEC);
  }

  /** @param place - of the statement in the command. */
  statementId(place: number): number {
    return this.#statementIds[place] ?? place;
  }

  /** @param attempt - an attempt that matched nothing has left a note as well; the next one has its own. */
  owner(place: number, attempt = 0): Bytes {
    const owner = Buffer.alloc(SESSION_BYTES + 14);
    owner.set(this.#session);
    owner.writeBigInt64BE(this.#number, SESSION_BYTES);
    owner.writeInt32BE(this.statementId(place), SESSION_BYTES + 8);
    owner.writeUInt16BE(attempt, SESSION_BYTES + 12);
    return owner;
  }

  /** @param bytes - the result; undefined: the reply of the updater. */
  note(place: number, attempt: number, bytes?: Bytes): WriteNote {
    return { owner: this.owner(place, attempt), bytes, expiresAtSec: this.#expiresAtSec };
  }

  /** The property of the reply that names repeated statements. */
  get reply(): Readonly<Record<string, Bson>> {
    return this.repeated.length === 0 ? {} : { retriedStmtIds: [...this.repeated] };
  }
}

/** The session of a command: sixteen bytes. */
export function sessionOf(command: BsonDocument): Bytes | undefined {
  const lsid = command.get('lsid');
  const id = isDocument(lsid) ? lsid.get('id') : undefined;
  if (!(id instanceof Extended)) return undefined;
  const { payload } = id;
  return payload.kind === 'binary' && payload.bytes.length === SESSION_BYTES
    ? payload.bytes
    : undefined;
}
