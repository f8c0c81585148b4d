/** Many items by their addresses: one call for each partition that has some of them. */
import { assert, READ_MANY_MAX, type ResponseInfo, type SessionToken } from '../../base/index.ts';
import type { ContainerRecord } from '../../catalog/index.ts';
import { type Cluster, type Route, readFromPartition, togetherInfo } from '../../cluster/index.ts';
import type { Item, ItemKey } from '../../partition/index.ts';
import type { RequestClass } from '../../throughput/index.ts';
import type { ItemAddress } from './operations.ts';

export interface ManyItems extends ResponseInfo {
  /** One per address, in the order of the addresses. */
  readonly items: readonly (Item | undefined)[];
  /** Partitions that were asked. */
  readonly partitionCalls: number;
}

/** The addresses of one partition, by their places in the list. */
interface Part {
  readonly keys: ItemKey[];
  readonly places: number[];
}

export async function readMany(
  cluster: Cluster,
  container: ContainerRecord,
  addresses: readonly ItemAddress[],
  sessionToken: SessionToken | undefined,
  requestClass: RequestClass | undefined,
): Promise<ManyItems> {
  assert(addresses.length > 0 && addresses.length <= READ_MANY_MAX, 'there are addresses to read');
  const routing = cluster.routing(container);
  const parts = new Map<Route, Part>();
  for (const [place, { partitionKey, rowKey }] of addresses.entries()) {
    const key = routing.keys.keyOf(partitionKey, rowKey);
    const route = routing.forKey(key.epk);
    const part = parts.get(route) ?? { keys: [], places: [] };
    part.keys.push(key);
    part.places.push(place);
    parts.set(route, part);
  }
  const items: (Item | undefined)[] = new Array(addresses.length).fill(undefined);
  const infos = await Promise.all(
    [...parts].map(async ([route, { keys, places }]) => {
      const reply = await readFromPartition(cluster, route, keys, sessionToken, requestClass);
      for (const [at, item] of reply.items.entries()) items[places[at] as number] = item;
      return reply;
    }),
  );
  return { items, partitionCalls: parts.size, ...togetherInfo(infos) };
}
