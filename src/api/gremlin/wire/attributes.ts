/** Status attributes: the service's code, charges and times in every message. */
import type { GremlinError } from '../errors.ts';
import { numberOf } from '../model/number.ts';
import type { GremlinValue } from '../model/value.ts';

/** What one request has used up to a message. */
export interface Progress {
  readonly activityId: string;
  readonly charge: number;
  readonly totalCharge: number;
  readonly timeMs: number;
  readonly totalTimeMs: number;
}

export function attributesOf(
  status: number,
  { activityId, charge, totalCharge, timeMs, totalTimeMs }: Progress,
): Map<string, GremlinValue> {
  return new Map<string, GremlinValue>([
    ['x-ms-status-code', status],
    ['x-ms-request-charge', double(charge)],
    ['x-ms-total-request-charge', double(totalCharge)],
    ['x-ms-server-time-ms', double(timeMs)],
    ['x-ms-total-server-time-ms', double(totalTimeMs)],
    ['x-ms-activity-id', activityId],
  ]);
}

export function errorAttributes(
  error: GremlinError,
  progress: Progress,
): Map<string, GremlinValue> {
  const attributes = attributesOf(error.status, progress);
  attributes.set('x-ms-substatus-code', 0);
  if (error.retryAfterMs !== undefined)
    attributes.set('x-ms-retry-after-ms', timeSpan(error.retryAfterMs));
  attributes.set('exceptions', [error.type]);
  return attributes;
}

/** The text that clients of the service look into. */
export function errorMessage({ type, message }: GremlinError, { activityId }: Progress): string {
  return `ActivityId : ${activityId}\nExceptionType : ${type}\nExceptionMessage :\n\t${message}`;
}

function double(value: number): GremlinValue {
  return numberOf('double', Math.round(value * 10_000) / 10_000);
}

/** Hours, minutes, seconds and ten-millionths of a second: `00:00:03.9500000`. */
function timeSpan(ms: number): string {
  const whole = Math.floor(ms / 1000);
  const two = (value: number): string => String(value).padStart(2, '0');
  const fraction = String(Math.round((ms - whole * 1000) * 10_000)).padStart(7, '0');
  return `${two(Math.floor(whole / 3600))}:${two(Math.floor(whole / 60) % 60)}:${two(whole % 60)}.${fraction}`;
}
