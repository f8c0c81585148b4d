/** /offers and /offers/{rid}: the throughput of databases and containers. */
import { DomainError } from '../../../base/index.ts';
import {
  type BucketLimitRecord,
  containerRid,
  databaseRid,
  offerRid,
  parseResourceId,
  type ThroughputRecord,
} from '../../../catalog/index.ts';
import type { Offer } from '../../../service/index.ts';
import type { ValueMap } from '../../../value/index.ts';
import { type Call, resourceNotFound } from '../call.ts';
import { containerSelf } from '../containers/container-view.ts';
import { offerChange } from '../containers/throughput-header.ts';
import { RequestError } from '../errors.ts';
import { listReply } from '../feed.ts';
import { parseJsonObject } from '../items/json-body.ts';
import { jsonReply, notModified, type Reply } from '../reply.ts';
import { ifMatch, isNotModified, isQuery } from '../request.ts';

/** The charge of the reference service for a change of the catalog. */
const WRITE_CHARGE = 4.95;

export function listOffers(call: Call): Reply {
  const { offers } = call.service;
  const resources = offers.list().map((offer) => offerResource(call, offer));
  return listReply(call, { rid: '', key: 'Offers' }, resources, (offer) => offer);
}

/** POST is a query: offers are created with their database or container. */
export function postOffers(call: Call): Reply {
  if (isQuery(call)) return listOffers(call);
  throw new RequestError(400, 'Offers are created with the database or container they belong to.');
}

export function readOffer(call: Call): Reply {
  const offer = findOffer(call);
  const { etag } = offer.throughput;
  if (isNotModified(call, etag)) return notModified(etag, []);
  return offerReply(call, offer, 1);
}

export async function replaceOffer(call: Call): Promise<Reply> {
  const { throughput } = findOffer(call);
  const body = parseJsonObject(call.body);
  checkIdentity(body, offerRid(throughput.offerRid));
  const change = offerChange(call, body.content);
  const offer = await call.service.offers.replace(throughput.offerRid, change, ifMatch(call));
  return offerReply(call, offer, WRITE_CHARGE);
}

function findOffer(call: Call): Offer {
  const rid = parseResourceId(call.id(0));
  if (rid?.kind !== 'offer') throw new RequestError(400, 'One of the input values is invalid.');
  const offer = call.service.offers.findByRid(rid.offer);
  if (offer === undefined) throw resourceNotFound();
  return offer;
}

/** Clients send the whole offer; its ids must not change. */
function checkIdentity({ id, _rid }: ValueMap, rid: string): void {
  for (const sent of [id, _rid])
    if (sent !== undefined && sent !== rid)
      throw new DomainError('invalidInput', 'The id of an offer cannot be changed.');
}

function offerReply(call: Call, offer: Offer, charge: number): Reply {
  const { offers } = call.service;
  const headers = [
    'etag',
    offer.throughput.etag,
    'x-ms-cosmos-min-throughput',
    String(offers.minimum(offer)),
    'x-ms-offer-replace-pending',
    String(offers.isReplacePending(offer)),
  ];
  return jsonReply(200, offerResource(call, offer), { charge, headers });
}

function offerResource(call: Call, offer: Offer) {
  const { throughput, database, container } = offer;
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
    content: {
      ...offerContent(throughput, () => call.service.offers.scaledThroughput(offer)),
      ...(call.service.offers.isReplacePending(offer) && { isOfferReplacePending: true }),
    },
    id: rid,
    _rid: rid,
    _self: `offers/${rid}/`,
    _etag: throughput.etag,
    _ts: throughput.timestampSec,
  };
}

function offerContent(throughput: ThroughputRecord, scaled: () => number) {
  const {
    setting,
    highestEver,
    storageBytesEver = 0,
    timestampSec,
    bucketLimits = [],
  } = throughput;
  const common = {
    offerIsRUPerMinuteThroughputEnabled: throughput.hasMinuteReserve === true,
    offerMinimumThroughputParameters: {
      maxThroughputEverProvisioned: highestEver,
      maxConsumedStorageEverInKB: Math.ceil(storageBytesEver / 1024),
    },
    offerLastReplaceTimestamp: timestampSec,
    ...(bucketLimits.length === 0 ? {} : { throughputBuckets: bucketLimits.map(bucketResource) }),
  };
  if (setting.kind === 'manual') return { offerThroughput: setting.requestUnits, ...common };
  const { requestUnitsMax, incrementPercent } = setting;
  return {
    offerThroughput: scaled(),
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

function bucketResource({ id, maxPercent }: BucketLimitRecord) {
  return { id, maxThroughputPercentage: maxPercent };
}
