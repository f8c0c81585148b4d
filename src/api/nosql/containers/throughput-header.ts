/** Parses throughput settings: headers of creations, contents of offers. Throws 400. */
import { DomainError } from '../../../base/index.ts';
import type { BucketLimitRecord, ThroughputSetting } from '../../../catalog/index.ts';
import type { OfferChange } from '../../../service/index.ts';
import { isList, isMap, type Value, type ValueMap } from '../../../value/index.ts';
import type { Call } from '../call.ts';
import { RequestError } from '../errors.ts';
import { toInteger } from '../request.ts';

/** The throughput of a new database or container; undefined where no header names one. */
export function throughputSetting(call: Call): ThroughputSetting | undefined {
  const manual = call.header('x-ms-offer-throughput');
  const autoscale = call.header('x-ms-cosmos-offer-autopilot-settings');
  if (manual !== undefined && autoscale !== undefined)
    throw new RequestError(
      400,
      'x-ms-offer-throughput and x-ms-cosmos-offer-autopilot-settings cannot both be given.',
    );
  if (manual !== undefined) {
    const requestUnits = toInteger(manual);
    if (requestUnits === undefined)
      throw new RequestError(400, 'The value of x-ms-offer-throughput is not a whole number.');
    return { kind: 'manual', requestUnits };
  }
  if (autoscale === undefined) return offerType(call);
  return autoscaleSetting(parseOrUndefined(autoscale), 'x-ms-cosmos-offer-autopilot-settings');
}

/** The first generation's budget per minute. */
export function wantsMinuteReserve(call: Call): boolean {
  return call.isHeaderTrue('x-ms-offer-is-ru-per-minute-throughput-enabled');
}

/**
 * The change of an offer, from the offer that a client sends back. An autoscale offer shows the present level as
 * `offerThroughput` next to its settings, so the settings decide which kind it is.
 */
export function offerChange(call: Call, content: Value): OfferChange {
  if (!isMap(content))
    throw new DomainError('invalidInput', 'The offer must have an object content.');
  const { offerIsRUPerMinuteThroughputEnabled: perMinute, throughputBuckets } = content;
  return {
    setting: contentSetting(content),
    migration: migration(call),
    hasMinuteReserve: typeof perMinute === 'boolean' ? perMinute : undefined,
    bucketLimits: throughputBuckets === undefined ? undefined : bucketLimits(throughputBuckets),
  };
}

function contentSetting(content: ValueMap): ThroughputSetting | undefined {
  const { offerThroughput, offerAutopilotSettings } = content;
  if (offerAutopilotSettings !== undefined && offerAutopilotSettings !== null)
    return autoscaleSetting(offerAutopilotSettings, 'offerAutopilotSettings');
  if (offerThroughput === undefined || offerThroughput === null) return undefined;
  if (typeof offerThroughput === 'number') return { kind: 'manual', requestUnits: offerThroughput };
  throw new DomainError('invalidInput', 'The value of offerThroughput is not a number.');
}

function migration(call: Call): OfferChange['migration'] {
  const toAutoscale = call.isHeaderTrue('x-ms-cosmos-migrate-offer-to-autopilot');
  const toManual = call.isHeaderTrue('x-ms-cosmos-migrate-offer-to-manual-throughput');
  if (toAutoscale && toManual)
    throw new RequestError(
      400,
      'x-ms-cosmos-migrate-offer-to-autopilot and x-ms-cosmos-migrate-offer-to-manual-throughput cannot both be given.',
    );
  if (toAutoscale) return 'toAutoscale';
  return toManual ? 'toManual' : undefined;
}

function bucketLimits(sent: Value): readonly BucketLimitRecord[] {
  const entries = isList(sent) ? sent : [undefined];
  return entries.map((entry) => {
    const { id, maxThroughputPercentage } = isMap(entry) ? entry : {};
    if (typeof id === 'number' && typeof maxThroughputPercentage === 'number')
      return { id, maxPercent: maxThroughputPercentage };
    throw new DomainError(
      'invalidInput',
      'throughputBuckets is a list of {"id": number, "maxThroughputPercentage": number}.',
    );
  });
}

/** The performance levels of the service's first years, in request units per second. */
const OFFER_TYPES: Readonly<Record<string, number>> = { s1: 400, s2: 1000, s3: 2500 };

function offerType(call: Call): ThroughputSetting | undefined {
  const type = call.header('x-ms-offer-type')?.toLowerCase();
  if (type === undefined || type === 'invalid') return undefined;
  const requestUnits = Object.hasOwn(OFFER_TYPES, type) ? OFFER_TYPES[type] : undefined;
  if (requestUnits === undefined)
    throw new RequestError(400, 'The value of x-ms-offer-type must be S1, S2 or S3.');
  return { kind: 'manual', requestUnits };
}

/** @param where - the header or property, for the error message. */
function autoscaleSetting(settings: Value, where: string): ThroughputSetting {
  if (!isMap(settings) || typeof settings.maxThroughput !== 'number') throw invalidAutoscale(where);
  const requestUnitsMax = settings.maxThroughput;
  const upgrade = settings.autoUpgradePolicy;
  const policy = isMap(upgrade) ? upgrade.throughputPolicy : undefined;
  const incrementPercent = isMap(policy) ? policy.incrementPercent : undefined;
  if (incrementPercent === undefined) return { kind: 'autoscale', requestUnitsMax };
  if (typeof incrementPercent !== 'number' || !(incrementPercent >= 0))
    throw invalidAutoscale(where);
  return { kind: 'autoscale', requestUnitsMax, incrementPercent };
}

function parseOrUndefined(text: string): Value {
  try {
    return JSON.parse(text) as Value;
  } catch {
    // The caller refuses undefined with the name of the header.
    return undefined;
  }
}

function invalidAutoscale(where: string): DomainError {
  return new DomainError(
    'invalidInput',
    `The value of ${where} is not valid: {"maxThroughput": number} is expected.`,
  );
}
