/** The keys of the account: shown, and rotated. */
import { DomainError } from '../../base/index.ts';
import { type AccountKeys, KEY_NAMES } from '../../service/index.ts';
import type { ValueMap } from '../../value/index.ts';

export function listKeys(keys: AccountKeys): object {
  return Object.fromEntries(KEY_NAMES.map((name) => [name, keys.get(name)]));
}

/** `{"key": "secondary"}`: the old key is void when the response is sent. */
export async function rotateKey(keys: AccountKeys, { key }: ValueMap): Promise<object> {
  const name = KEY_NAMES.find((known) => known === key);
  if (name === undefined)
    throw new DomainError(
      'invalidInput',
      `The property 'key' must be one of ${KEY_NAMES.join(', ')}.`,
    );
  return { [name]: await keys.rotate(name) };
}
