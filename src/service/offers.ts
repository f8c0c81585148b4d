/** Offers: the throughput of databases and containers as resources of their own. */
import {
  type Catalog,
  type ContainerRecord,
  type DatabaseRecord,
  provisionedMax,
  type ThroughputRecord,
  type ThroughputSetting,
} from '../catalog/index.ts';
import { newEtag } from './resource-etag.ts';

export interface Offer {
  readonly throughput: ThroughputRecord;
  readonly database: DatabaseRecord;
  /** Undefined for throughput that the containers of the database share. */
  readonly container: ContainerRecord | undefined;
}

export class Offers {
  readonly #catalog: Catalog;

  constructor(catalog: Catalog) {
    this.#catalog = catalog;
  }

  list(): readonly Offer[] {
    return listOffers(this.#catalog);
  }

  findByRid(rid: number): Offer | undefined {
    return this.list().find(({ throughput }) => throughput.offerRid === rid);
  }
}

function listOffers(catalog: Catalog): readonly Offer[] {
  const offers: Offer[] = [];
  for (const database of catalog.databases()) {
    if (database.throughput !== undefined)
      offers.push({ throughput: database.throughput, database, container: undefined });
    for (const container of catalog.containers(database))
      if (container.throughput !== undefined)
        offers.push({ throughput: container.throughput, database, container });
  }
  return offers;
}

/** A new throughput with an offer id nobody has. Inside a change of the catalog. */
export function newThroughput(
  catalog: Catalog,
  setting: ThroughputSetting,
  timestampSec: number,
): ThroughputRecord {
  const taken = new Set(listOffers(catalog).map(({ throughput }) => throughput.offerRid));
  return {
    offerRid: catalog.newRid(24, (rid) => taken.has(rid)),
    etag: newEtag(),
    timestampSec,
    setting,
    highestEver: provisionedMax(setting),
  };
}
