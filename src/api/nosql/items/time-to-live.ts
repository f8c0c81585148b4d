/** The property `ttl` of an item. */
import { DomainError } from '../../../base/index.ts';
import type { ValueMap } from '../../../value/index.ts';

/** Documented maximum, 68 years. */
export const TTL_SEC_MAX = 2_147_483_647;

/** Seconds, -1 for no expiry, 0 for the default of the container. */
export function itemTtlSec(item: ValueMap): number {
  const { ttl } = item;
  if (ttl === undefined) return 0;
  if (ttl === -1) return -1;
  if (typeof ttl === 'number' && Number.isInteger(ttl) && ttl > 0 && ttl <= TTL_SEC_MAX) return ttl;
  throw new DomainError(
    'invalidInput',
    `The input ttl is invalid: it must be -1 or a whole number of seconds between 1 and ${TTL_SEC_MAX}.`,
  );
}
