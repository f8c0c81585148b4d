/**
 * The properties of an item that the service sets: `_rid`, `_self`, `_etag`, `_attachments`, `_ts`. They are put
 * into the text once, when the item is written, so that a read sends the stored bytes as they are.
 */
import { assert, type Bytes } from '../../../base/index.ts';
import type { ContainerRecord } from '../../../catalog/index.ts';
import type { BodyFinisher, Stamp } from '../../../partition/index.ts';
import { SystemProperties } from '../../../service/index.ts';
import { CLOSING_BRACE, type Value, type ValueMap } from '../../../value/index.ts';

/** System properties that clients may send back with an item; `_lsn` comes from change feeds. */
export const SYSTEM_PROPERTIES = ['_rid', '_self', '_etag', '_attachments', '_ts', '_lsn'] as const;

/** Appends the system properties. The body must be a JSON object with at least one property. */
export function finishJson(container: ContainerRecord): BodyFinisher {
  const properties = new SystemProperties(container);
  const finish: BodyFinisher = (body, stamp) => {
    const end = body.length - 1;
    assert(body[end] === CLOSING_BRACE, 'an item body ends with a brace');
    const tail = properties.tail(stamp);
    const finished = Buffer.allocUnsafe(end + tail.length);
    finished.set(body.subarray(0, end));
    finished.write(tail, end, 'latin1');
    return finished;
  };
  return Object.assign(finish, {
    tail: (stamp: Stamp): string => properties.tail(stamp),
    ofValue: (value: Value, stamp: Stamp): Value => properties.added(value as ValueMap, stamp),
  });
}

/** The item without the system properties that a client may have sent back: the service sets its own. */
export function withoutSystemProperties(item: ValueMap): ValueMap {
  if (!SYSTEM_PROPERTIES.some((name) => Object.hasOwn(item, name))) return item;
  const kept = Object.entries(item).filter(
    ([name]) => !(SYSTEM_PROPERTIES as readonly string[]).includes(name),
  );
  return Object.fromEntries(kept);
}

/** The body of an item for its partition: compact JSON without system properties, and the same value decoded. */
export function encodeItem(item: ValueMap): { readonly body: Bytes; readonly value: ValueMap } {
  const value = withoutSystemProperties(item);
  return { body: Buffer.from(JSON.stringify(value), 'utf8'), value };
}
