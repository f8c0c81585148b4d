/** From failures of sessions to refusals of the contract. */
import { DomainError } from '../../base/index.ts';
import { ConnectionLostError, StatementError } from './connect/postgres-session.ts';

/** Time that a request waits for a member that takes writes, or for an answer to an opening. */
export const MEMBER_WAIT_MS = 10_000;

/** So often somebody who waits for the quorum or the primary looks whether they are there. */
export const REFUSED_POLL_MS = 50;

/** Something that may be sent again is sent so often: a statement that ends its session must not go on for ever. */
export const LOST_TRIES_MAX = 5;

export function unavailable(message: string): DomainError {
  return new DomainError('unavailable', message);
}

/** A failed read, or a change that surely did not happen. Errors of ours are returned unchanged. */
export function readFailure(error: unknown): unknown {
  if (error instanceof StatementError)
    return unavailable(`PostgreSQL refused a statement: ${describe(error)}`);
  if (error instanceof ConnectionLostError)
    return unavailable(`The connection to PostgreSQL was lost: ${error.message}`);
  return error;
}

/**
 * A failed commit. Whoever cancels or ends the session while it waits for standbys makes the commit visible where it may
 * not be replicated: nobody knows yet whether it will stay.
 */
export function commitFailure(error: unknown): unknown {
  if (error instanceof ConnectionLostError)
    return outcomeUnknown(`the connection to PostgreSQL was lost: ${error.message}`);
  if (error instanceof StatementError && (error.report.severity !== 'ERROR' || error.warning))
    return outcomeUnknown(describe(error));
  return readFailure(error);
}

export function outcomeUnknown(reason: string): DomainError {
  return new DomainError(
    'outcomeUnknown',
    `It is unknown whether the write took effect: ${reason}`,
  );
}

export function isUnknown(error: unknown): error is DomainError {
  return error instanceof DomainError && error.code === 'outcomeUnknown';
}

export function isLost(error: unknown): boolean {
  return error instanceof ConnectionLostError;
}

function describe({ report: { message, code } }: StatementError): string {
  return `${message} (SQLSTATE ${code})`;
}

/** Rejects with the error of `late` where the promise takes longer. */
export function withDeadline<T>(promise: Promise<T>, ms: number, late: () => Error): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const deadline = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(late()), ms);
  });
  return Promise.race([promise, deadline]).finally(() => clearTimeout(timer));
}
