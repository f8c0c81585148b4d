/** Where the reading of a collection begins. */
import type { ContainerRecord } from '../../../catalog/index.ts';
import type { ChangeFeedPosition, Service } from '../../../service/index.ts';
import { EPK_MAX, EPK_MIN } from '../../../value/index.ts';

export function startOf(start: ChangeFeedPosition[number]['start']): ChangeFeedPosition {
  return [{ min: EPK_MIN, max: EPK_MAX, start }];
}

export const BEGINNING = startOf({ kind: 'after', lsn: 0 });

/** Behind everything that others see now, also where the collection does not keep versions yet. */
export async function positionNow(
  { changeFeed }: Service,
  container: ContainerRecord,
): Promise<ChangeFeedPosition> {
  const { position } = await changeFeed.read(container, {
    scope: { kind: 'container' },
    mode: 'latest',
    start: { kind: 'now' },
    limit: 1,
    bytesMax: 1,
  });
  return position;
}
