/** Completes an entity when it is written: its time, and after its properties the system properties of the NoSQL API. */
import { assert } from '../../../base/index.ts';
import type { ContainerRecord } from '../../../catalog/index.ts';
import type { BodyFinisher, Stamp } from '../../../partition/index.ts';
import { SystemProperties } from '../../../service/index.ts';
import {
  CLOSING_BRACE,
  TIME_PLACEHOLDER,
  type Value,
  type ValueMap,
} from '../../../value/index.ts';

/** These bytes cannot occur inside a string, where quotation marks are escaped. */
const TIME_PROPERTY = Buffer.from(`"Timestamp":"${TIME_PLACEHOLDER}"`);
const TIME_OFFSET = '"Timestamp":"'.length;

export function finishEntity(container: ContainerRecord): BodyFinisher {
  const properties = new SystemProperties(container);
  const overwrite = (body: Buffer, stamp: Stamp): void => {
    const at = body.indexOf(TIME_PROPERTY);
    assert(at > 0, 'an entity has a place for its time');
    body.write(stamp.time, at + TIME_OFFSET, 'latin1');
  };
  const finish: BodyFinisher = (body, stamp) => {
    const end = body.length - 1;
    assert(body[end] === CLOSING_BRACE, 'an entity ends with a brace');
    const tail = properties.tail(stamp);
    const finished = Buffer.allocUnsafe(end + tail.length);
    finished.set(body.subarray(0, end));
    finished.write(tail, end, 'latin1');
    overwrite(finished, stamp);
    return finished;
  };
  return Object.assign(finish, {
    tail: (stamp: Stamp): string => properties.tail(stamp),
    overwrite,
    ofValue(value: Value, stamp: Stamp): Value {
      const finished: Record<string, Value> = properties.added(value as ValueMap, stamp);
      finished.Timestamp = stamp.time;
      return finished;
    },
  });
}
