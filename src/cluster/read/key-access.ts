/** Items of one partition by their keys: pages in key order, and lists of keys in one call. */
import type { ResponseInfo, SessionToken } from '../../base/index.ts';
import type { Item, ItemKey, KeyScan, KeyScanPage } from '../../partition/index.ts';
import {
  MINIMAL_CHARGE,
  NORMAL_CLASS,
  pageCharge,
  type RequestClass,
  readCharge,
} from '../../throughput/index.ts';
import type { Cluster } from '../cluster.ts';
import type { Route } from '../routing/routing-map.ts';

interface KeyScanReply extends ResponseInfo {
  readonly page: KeyScanPage;
}

/** Charged as pages are. */
export async function scanPartition(
  cluster: Cluster,
  route: Route,
  scan: KeyScan,
  session: SessionToken | undefined,
  requestClass: RequestClass = NORMAL_CLASS,
): Promise<KeyScanReply> {
  const { found, ...info } = await cluster.visit(
    route,
    session,
    requestClass,
    async (partition) => {
      const page = await partition.scanKeys(scan);
      let bytes = 0;
      for (const { body } of page.items) bytes += body.length;
      const charge = pageCharge(page.items.length, bytes, requestClass.readFactor);
      return { found: page, charge, bytes, key: undefined };
    },
  );
  return { page: found, ...info };
}

interface ReadManyReply extends ResponseInfo {
  /** One per key, in the order of the keys. */
  readonly items: readonly (Item | undefined)[];
}

/** Charged as so many point reads. */
export async function readFromPartition(
  cluster: Cluster,
  route: Route,
  keys: readonly ItemKey[],
  session: SessionToken | undefined,
  requestClass: RequestClass = NORMAL_CLASS,
): Promise<ReadManyReply> {
  const { readFactor } = requestClass;
  const { found, ...info } = await cluster.visit(
    route,
    session,
    requestClass,
    async (partition) => {
      const items = await partition.readMany(keys);
      let bytes = 0;
      let charge = 0;
      for (const item of items) {
        bytes += item?.body.length ?? 0;
        charge +=
          item === undefined
            ? MINIMAL_CHARGE * readFactor
            : readCharge(item.body.length, readFactor);
      }
      return { found: items, charge, bytes, key: keys.length === 1 ? keys[0] : undefined };
    },
  );
  return { items: found, ...info };
}
