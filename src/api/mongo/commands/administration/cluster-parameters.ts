/** Settings that all servers of a cluster share: what they are, and what they may be. They last as long as the process. */
import {
  type Bson,
  type BsonDocument,
  compareBson,
  Extended,
  isDocument,
} from '../../../../value/index.ts';
import { isNumber } from '../../bson/arithmetic.ts';
import { MongoError } from '../../errors.ts';
import { unknownField, wrongType } from '../../fields/field-table.ts';
import { wholeOf } from '../../fields/numbers.ts';
import { documentOf } from '../../reply.ts';

interface Parameter {
  readonly initial: BsonDocument;
  /** The value after a client has sent part of it. Throws where that cannot be one. */
  change(sent: Bson, current: BsonDocument, initial: BsonDocument): BsonDocument;
}

/** Null sets a field back. */
function fieldsOf(
  types: Readonly<Record<string, 'bool' | 'count' | 'seconds'>>,
): Parameter['change'] {
  return (sent, current, initial) => {
    if (!isDocument(sent)) throw wrongType('setClusterParameter', sent, 'object');
    const changed = new Map(current);
    for (const [name, value] of sent) {
      const type = Object.hasOwn(types, name) ? types[name] : undefined;
      if (type === undefined) throw unknownField('setClusterParameter', name);
      changed.set(name, value === null ? (initial.get(name) as Bson) : typed(name, value, type));
    }
    return changed;
  };
}

function typed(name: string, value: Bson, type: 'bool' | 'count' | 'seconds'): Bson {
  if (type === 'bool') {
    if (typeof value === 'boolean') return value;
    throw wrongType(`setClusterParameter.${name}`, value, 'bool');
  }
  if (!isNumber(value)) throw wrongType(`setClusterParameter.${name}`, value, 'long');
  const number = wholeOf(value);
  if (number < (type === 'seconds' ? 1 : 0) || !Number.isSafeInteger(number))
    throw new MongoError('BadValue', `Invalid value for ${name}: ${number}`);
  return BigInt(number);
}

/** `{ preAndPostImages: { expireAfterSeconds: 'off' | seconds } }`; whatever else is sent is a bad value. */
function imagesOf(sent: Bson): BsonDocument {
  const images = isDocument(sent) ? sent.get('preAndPostImages') : undefined;
  const expiry = isDocument(images) ? images.get('expireAfterSeconds') : undefined;
  const isAlone = isDocument(sent) && sent.size === 1 && isDocument(images) && images.size === 1;
  const seconds = isNumber(expiry) ? wholeOf(expiry as Bson) : 0;
  if (!isAlone || (expiry !== 'off' && !(seconds > 0 && Number.isSafeInteger(seconds))))
    throw new MongoError(
      'BadValue',
      "expireAfterSeconds of 'preAndPostImages' must be 'off' or a positive number",
    );
  const value = expiry === 'off' ? 'off' : BigInt(seconds);
  return documentOf({ preAndPostImages: documentOf({ expireAfterSeconds: value }) });
}

const PARAMETERS: Readonly<Record<string, Parameter>> = {
  changeStreamOptions: {
    initial: documentOf({ preAndPostImages: documentOf({ expireAfterSeconds: 'off' }) }),
    change: imagesOf,
  },
  changeStreams: {
    initial: documentOf({ expireAfterSeconds: 3600n }),
    change: fieldsOf({ expireAfterSeconds: 'seconds' }),
  },
  defaultMaxTimeMS: {
    initial: documentOf({ readOperations: 0n }),
    change: fieldsOf({ readOperations: 'count' }),
  },
  fleDisableSubstringPreviewParameterLimits: {
    initial: documentOf({ shouldDisableLimits: false }),
    change: fieldsOf({ shouldDisableLimits: 'bool' }),
  },
  pauseMigrationsDuringMultiUpdates: {
    initial: documentOf({ enabled: false }),
    change: fieldsOf({ enabled: 'bool' }),
  },
};

interface Known {
  readonly value: BsonDocument;
  readonly time: Bson;
}

const NEVER = new Extended({ kind: 'timestamp', high: 0, low: 0 });

export class ClusterParameters {
  readonly #set = new Map<string, Known>();

  get names(): readonly string[] {
    return Object.keys(PARAMETERS);
  }

  /** Throws NoSuchKey. */
  get(name: string): BsonDocument {
    const { initial } = parameterOf(name);
    const { value, time } = this.#set.get(name) ?? { value: initial, time: NEVER };
    return new Map<string, Bson>([['_id', name], ['clusterParameterTime', time], ...value]);
  }

  /** The time of a parameter is that of its last change. */
  set(name: string, sent: Bson, time: Bson): void {
    const { initial, change } = parameterOf(name);
    if (isDocument(sent))
      for (const field of sent.keys())
        if (field.startsWith('$'))
          throw new MongoError(
            'DollarPrefixedFieldName',
            `The dollar ($) prefixed field '${field}' is not valid for storage.`,
          );
    const current = this.#set.get(name)?.value ?? initial;
    const value = change(sent, current, initial);
    if (compareBson(value, current) !== 0) this.#set.set(name, { value, time });
  }
}

function parameterOf(name: string): Parameter {
  const known = Object.hasOwn(PARAMETERS, name) ? PARAMETERS[name] : undefined;
  if (known === undefined) throw new MongoError('NoSuchKey', `Unknown server parameter: ${name}`);
  return known;
}
