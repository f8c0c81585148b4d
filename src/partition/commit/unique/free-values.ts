/** Asks whether an item could take unique values, for a statement of a transaction that writes at its commit. */
import type { Put, WriteCommand } from '../command/write-command.ts';

/**
 * Refused with `uniqueKeyViolation`; writes nothing.
 * @param entries - of the item, those that it would get.
 * @param mayTake - whether the item with this key gives up its values.
 */
export function freeValues(
  put: Put,
  entries: readonly string[],
  mayTake: (owner: string) => boolean,
): WriteCommand {
  return {
    keys: [],
    decide: (_, { claims }) => {
      claims?.checkFree(put, entries, mayTake);
      return [];
    },
  };
}
