/** The scope of a feed: a partition key, a partition, a part of the hash space, or the container. */
import type { EpkRange } from '../../../partition/index.ts';
import type { FeedScope } from '../../../service/index.ts';
import { epkFromHex } from '../../../value/index.ts';
import type { Call } from '../call.ts';
import type { ContainerView } from '../containers/container-view.ts';
import { feedPartitionKey } from '../items/partition-key-header.ts';
import { hashRangeHeaders, rangeIdOf } from '../query/query-targets.ts';

export function feedScope(call: Call, view: ContainerView): FeedScope {
  const values = feedPartitionKey(call, view);
  if (values !== undefined) return { kind: 'partitionKey', values };
  const within = epkRange(call);
  const range = call.header('x-ms-documentdb-partitionkeyrangeid');
  if (range === undefined)
    return within === undefined ? { kind: 'container' } : { kind: 'range', within };
  return { kind: 'partition', id: rangeIdOf(range, view), within };
}

function epkRange(call: Call): EpkRange | undefined {
  const range = hashRangeHeaders(call);
  return range && { min: epkFromHex(range.min), max: epkFromHex(range.max) };
}
