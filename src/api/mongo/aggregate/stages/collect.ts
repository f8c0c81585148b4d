/** Documents that a stage holds until it has seen all, within the memory that a stage may use. */
import type { BsonDocument } from '../../../../value/index.ts';
import { roughBytes } from '../../bson/rough-bytes.ts';
import type { Rows } from '../../documents/rows.ts';
import { MongoError } from '../../errors.ts';

/** Bytes that one stage holds (documented). */
const BYTES_MAX = 100 * 1024 * 1024;

export async function collect(rows: Rows, stage: string): Promise<BsonDocument[]> {
  const found: BsonDocument[] = [];
  let bytes = 0;
  for await (const batch of rows)
    for (const { document } of batch) {
      bytes += roughBytes(document);
      if (bytes > BYTES_MAX)
        throw new MongoError(
          'QueryExceededMemoryLimitNoDiskUseAllowed',
          `Exceeded memory limit for ${stage}, but didn't allow external sort. Pass allowDiskUse:true to opt in.`,
        );
      found.push(document);
    }
  return found;
}
