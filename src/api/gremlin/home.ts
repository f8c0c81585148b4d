/** Containers of this API: graphs, whose documents are the JSON that the NoSQL API returns. */
import { assert } from '../../base/index.ts';
import type { ContainerRecord } from '../../catalog/index.ts';
import type { BodyFinisher, Stamp } from '../../partition/index.ts';
import { type HomeApi, SystemProperties } from '../../service/index.ts';
import { CLOSING_BRACE, jsonCodec, type Value, type ValueMap } from '../../value/index.ts';

export const gremlinHome: HomeApi = {
  name: 'gremlin',
  codec: jsonCodec,
  finisher: finishDocument,
};

/** Appends the system properties that the NoSQL API shows. */
function finishDocument(container: ContainerRecord): BodyFinisher {
  const properties = new SystemProperties(container);
  const finish: BodyFinisher = (body, stamp) => {
    const end = body.length - 1;
    assert(body[end] === CLOSING_BRACE, 'a document ends with a brace');
    return Buffer.concat([body.subarray(0, end), Buffer.from(properties.tail(stamp), 'latin1')]);
  };
  return Object.assign(finish, {
    tail: (stamp: Stamp): string => properties.tail(stamp),
    ofValue: (value: Value, stamp: Stamp): Value => properties.added(value as ValueMap, stamp),
  });
}
