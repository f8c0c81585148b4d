/** Session tokens: `<range id>:<version>#<lsn>`, several joined by commas. Version -1: one region, no vector. */
import { DomainError, type ResponseInfo } from '../base/index.ts';
import type { PartitionRecord } from '../catalog/index.ts';
import type { Lsn } from '../partition/index.ts';

const SESSION_TOKENS_MAX = 10_000;
/** Tokens in one response, some 4 KB: clients refuse headers of more than 8 to 16 KB. */
const PRINTED_TOKENS_MAX = 250;

export function printSessionToken(partitionId: string, lsn: Lsn): string {
  return `${partitionId}:-1#${lsn}`;
}

/** The tokens of several partitions, as many as a header holds. */
export function printSessionTokens(infos: readonly ResponseInfo[]): string {
  return infos
    .slice(0, PRINTED_TOKENS_MAX)
    .map(({ sessionToken }) => sessionToken)
    .join(',');
}

/**
 * The LSN a client has seen of this partition: its own, or the highest of the partitions it came from.
 * 0 where the token does not name them. Throws `invalidInput` for what is no token.
 */
export function sessionLsn(token: string, partition: PartitionRecord): Lsn {
  let seen = 0;
  const parts = token.split(',', SESSION_TOKENS_MAX);
  for (const part of parts) {
    const match = /^\s*(\d+):(-?\d+)#(\d+)((?:#\d+=-?\d+)*)\s*$/.exec(part);
    if (match === null)
      throw new DomainError(
        'invalidInput',
        `The session token '${part.slice(0, 100)}' is invalid.`,
      );
    const [, id, , lsn] = match;
    if (id === partition.id || partition.parents.includes(id as string))
      seen = Math.max(seen, Number(lsn));
  }
  return seen;
}
