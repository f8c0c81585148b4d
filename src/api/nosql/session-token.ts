/** Session tokens: `<range id>:<version>#<lsn>`, several joined by commas. Version -1: one region, no vector. */
import { DomainError, type ResponseInfo, type SessionToken } from '../../base/index.ts';

const SESSION_TOKENS_MAX = 10_000;
/** Tokens in one response, some 4 KB: clients refuse headers of more than 8 to 16 KB. */
const PRINTED_TOKENS_MAX = 250;
const TOKEN = /^\s*(\d+):(-?\d+)#(\d+)((?:#\d+=-?\d+)*)\s*$/;

/** The token of a response: of all partitions that took part, as many as a header holds. */
export function printSessionToken({ partitionId, lsn, others }: ResponseInfo): string {
  let text = `${partitionId}:-1#${lsn}`;
  if (others !== undefined)
    for (const other of others.slice(0, PRINTED_TOKENS_MAX - 1))
      text += `,${other.partitionId}:-1#${other.lsn}`;
  return text;
}

/** Undefined where the client sent none. Throws `invalidInput` for what is no token. */
export function parseSessionToken(text: string | undefined): SessionToken | undefined {
  if (text === undefined || text === '') return undefined;
  return text.split(',', SESSION_TOKENS_MAX).map((part) => {
    const match = TOKEN.exec(part);
    if (match === null)
      throw new DomainError(
        'invalidInput',
        `The session token '${part.slice(0, 100)}' is invalid.`,
      );
    return { partitionId: match[1] as string, lsn: Number(match[3]) };
  });
}
