/** Remembers what the feed does not tell about a write. */
import type { ContainerRecord } from '../../../catalog/index.ts';
import type { Effect } from '../../../partition/index.ts';
import type { ItemWrite } from '../../../service/index.ts';
import { isDocument, readBson } from '../../../value/index.ts';
import type { MongoContext } from '../call.ts';
import type { UpdateStyle } from './write-hints.ts';

type Noting = Pick<MongoContext, 'hints' | 'clusterClock'>;

/** Inserts are noted once for each commit, however many documents it has. */
export function noteWrite(
  { hints, clusterClock }: Noting,
  container: ContainerRecord,
  { kind, item, previous }: Effect,
  write: ItemWrite,
): void {
  // A deletion leaves no item that would tell its LSN.
  const lsn = item?.version.lsn;
  if (kind === 'kept' || lsn === undefined) return;
  if (kind === 'created' && hints.find(container, lsn) !== undefined) return;
  const isWatched = container.versionRetentionSec !== undefined;
  if (isWatched && previous !== undefined && item !== undefined)
    hints.keepBefore(container, lsn, item.rid, previous.body);
  hints.add(container, lsn, {
    time: clusterClock.tick(),
    style: isWatched && kind === 'replaced' ? styleOf(write) : undefined,
  });
}

function styleOf(write: ItemWrite): UpdateStyle | undefined {
  if (write.kind === 'replace' || write.kind === 'upsert') return 'replacement';
  if (write.kind !== 'update') return undefined;
  const update = readBson(write.args).get('update');
  if (!isDocument(update)) return 'pipeline';
  const [first = '$'] = update.keys();
  return first.startsWith('$') ? 'operators' : 'replacement';
}
