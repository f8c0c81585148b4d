/** /offers and /offers/{rid}: the throughput of databases and containers. */
import {
  containerRid,
  databaseRid,
  offerRid,
  parseResourceId,
  type ThroughputRecord,
} from '../../../catalog/index.ts';
import type { Offer } from '../../../service/index.ts';
import { type Call, resourceNotFound } from '../call.ts';
import { containerSelf } from '../container-face.ts';
import { listReply } from '../feed.ts';
import { refusal } from '../not-served.ts';
import { isNotModified, notModified } from '../preconditions.ts';
import { isQuery } from '../query-body.ts';
import { jsonReply, type Reply } from '../reply.ts';

export function listOffers(call: Call): Reply {
  const offers = call.service.offers.list().map(offerResource);
  return listReply(call, { rid: '', key: 'Offers' }, offers);
}

/** POST is a query: offers come into being with what they belong to. */
export function postOffers(call: Call): Reply {
  if (isQuery(call)) return listOffers(call);
  throw refusal('Creating offers by themselves');
}

export function readOffer(call: Call): Reply {
  const rid = parseResourceId(call.id(0));
  const offer = rid?.kind === 'offer' ? call.service.offers.findByRid(rid.offer) : undefined;
  if (offer === undefined) throw resourceNotFound();
  const { etag } = offer.throughput;
  if (isNotModified(call, etag)) return notModified(etag, []);
  return jsonReply(200, offerResource(offer), { headers: ['etag', etag] });
}

function offerResource({ throughput, database, container }: Offer) {
  const rid = offerRid(throughput.offerRid);
  return {
    resource:
      container === undefined ? `dbs/${databaseRid(database.rid)}/` : containerSelf(container),
    offerType: 'Invalid',
    offerVersion: 'V2',
    offerResourceId:
      container === undefined
        ? databaseRid(database.rid)
        : containerRid(container.databaseRid, container.rid),
    content: offerContent(throughput),
    id: rid,
    _rid: rid,
    _self: `offers/${rid}/`,
    _etag: throughput.etag,
    _ts: throughput.timestampSec,
  };
}

function offerContent({ setting, highestEver, timestampSec }: ThroughputRecord) {
  const common = {
    offerIsRUPerMinuteThroughputEnabled: false,
    offerMinimumThroughputParameters: {
      maxThroughputEverProvisioned: highestEver,
      maxConsumedStorageEverInKB: 0,
    },
    offerLastReplaceTimestamp: timestampSec,
  };
  if (setting.kind === 'manual') return { offerThroughput: setting.requestUnits, ...common };
  const { requestUnitsMax, incrementPercent } = setting;
  return {
    // Autoscale rests at a tenth of its maximum.
    offerThroughput: requestUnitsMax / 10,
    ...common,
    offerAutopilotSettings: {
      tier: 0,
      maximumTierThroughput: 0,
      autoUpgrade: false,
      maxThroughput: requestUnitsMax,
      ...(incrementPercent === undefined
        ? {}
        : { autoUpgradePolicy: { throughputPolicy: { incrementPercent } } }),
    },
  };
}
