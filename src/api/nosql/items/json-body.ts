/** Parses JSON bodies and refuses what JSON allows and items do not. */
import { isUtf8 } from 'node:buffer';
import { type Bytes, bytesToText, DomainError, NESTING_MAX } from '../../../base/index.ts';
import { isList, isMap, type Value, type ValueMap } from '../../../value/index.ts';

/**
 * Throws `invalidInput` for anything but a JSON object in UTF-8, and for values that could not be returned as sent: too
 * deep nesting, numbers beyond the range of a double.
 */
export function parseJsonObject(body: Bytes): ValueMap {
  const value = parseJson(body);
  if (!isMap(value)) throw invalidPayload('a JSON object is expected');
  checkJson(value);
  return value;
}

/** Parses any JSON value in UTF-8; the limits of items are checked by `checkJson`. */
export function parseJson(body: Bytes): Value {
  if (body.length === 0) throw invalidPayload('the body is empty');
  if (!isUtf8(body)) throw invalidPayload('the text is not valid UTF-8');
  try {
    return JSON.parse(bytesToText(body)) as Value;
  } catch {
    throw invalidPayload('the text is not valid JSON');
  }
}

/** Throws `invalidInput` for values that could not be returned as sent. */
export function checkJson(value: Value, depth = 1): void {
  if (typeof value === 'number') {
    if (!Number.isFinite(value))
      throw invalidPayload('a number is beyond the range of a 64-bit floating point number');
    return;
  }
  if (typeof value !== 'object' || value === null) return;
  if (depth > NESTING_MAX)
    throw invalidPayload(`values are nested more than ${NESTING_MAX} levels deep`);
  if (isList(value)) {
    for (let at = 0; at < value.length; at++) checkJson(value[at], depth + 1);
  } else for (const name in value) checkJson((value as ValueMap)[name], depth + 1);
}

function invalidPayload(why: string): DomainError {
  return new DomainError(
    'invalidInput',
    `The request payload is invalid. Ensure to provide a valid request payload: ${why}.`,
  );
}
