/** Collections that a `$out` was filling when the server ended: nobody will give them their name. */
import type { Service } from '../../../service/index.ts';
import { HOME } from './collection.ts';

const PREFIX = 'tmp.agg_out.';
const UNFINISHED = /^tmp\.agg_out\.[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** @param id - a new uuid. */
export function unfinishedName(id: string): string {
  return PREFIX + id;
}

/** Must be called before the first command: no `$out` runs then. What cannot be removed waits for the next start. */
export async function removeLeftovers({ databases, containers }: Service): Promise<void> {
  for (const database of databases.list())
    for (const container of containers.list(database)) {
      if (container.home !== HOME || !UNFINISHED.test(container.id)) continue;
      await containers.delete(container);
    }
}
