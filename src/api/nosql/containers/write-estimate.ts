/** What a write of an item costs under a policy that is not there yet, beside what it costs now. */
import { DomainError } from '../../../base/index.ts';
import type { ContainerRecord } from '../../../catalog/index.ts';
import { containerIndexing } from '../../../cluster/index.ts';
import type { Item } from '../../../partition/index.ts';
import { containerNotFound, databaseNotFound, type Service } from '../../../service/index.ts';
import { createCharge } from '../../../throughput/index.ts';
import { isMap, type ValueMap } from '../../../value/index.ts';
import { containerUpdate } from './container-spec.ts';

interface WriteEstimate {
  /** Items whose writes were estimated, and their bytes on average; the newest items of the container. */
  readonly items: number;
  readonly bytes: number;
  readonly before: PolicyCost;
  readonly after: PolicyCost;
}

/** Averages over the items. */
interface PolicyCost {
  readonly requestUnits: number;
  readonly indexEntries: number;
}

/** Body: `{"db", "container", "definition": {"indexingPolicy": …}}`. Throws DomainError for a policy that is refused. */
export type WriteEstimator = (body: ValueMap) => Promise<WriteEstimate>;

const SAMPLE = 20;
const SAMPLE_BYTES = 1024 * 1024;

export function createWriteEstimator(service: Service): WriteEstimator {
  return async ({ db, container: id, definition }) => {
    const database = typeof db === 'string' ? service.databases.find(db) : undefined;
    if (database === undefined) throw databaseNotFound();
    const record = typeof id === 'string' ? service.containers.find(database, id) : undefined;
    if (record === undefined) throw containerNotFound();
    if (!isMap(definition)) throw new DomainError('invalidInput', 'definition is an object.');
    const { indexingPolicy, policies } = containerUpdate({ ...definition, id: record.id }, record);
    const page = await service.items.feed(record, {
      scope: { kind: 'container' },
      continuation: undefined,
      limit: SAMPLE,
      bytesMax: SAMPLE_BYTES,
      sessionToken: undefined,
    });
    const bytes = page.items.reduce((sum, { body }) => sum + body.length, 0);
    return {
      items: page.items.length,
      bytes: Math.round(bytes / Math.max(1, page.items.length)),
      before: costOf(service, record, page.items),
      after: costOf(service, { ...record, indexingPolicy, policies }, page.items),
    };
  };
}

function costOf(service: Service, record: ContainerRecord, items: readonly Item[]): PolicyCost {
  const indexing = containerIndexing(record, service.homes.of(record));
  let requestUnits = 0;
  let indexEntries = 0;
  for (const item of items) {
    const entries = indexing.entriesOf(item).length;
    indexEntries += entries;
    requestUnits += createCharge({ bodyBytes: item.body.length, indexEntries: entries });
  }
  const average = (sum: number): number =>
    Math.round((100 * sum) / Math.max(1, items.length)) / 100;
  return { requestUnits: average(requestUnits), indexEntries: average(indexEntries) };
}
