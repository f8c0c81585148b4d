/** `$graphLookup`: documents that are reached over one or more links, each once, with the number of links. */
import { append } from '../../../../base/index.ts';
import {
  type Bson,
  type BsonDocument,
  bsonTypeOf,
  isArray,
  isDocument,
} from '../../../../value/index.ts';
import { doubleOf, isNumber } from '../../bson/arithmetic.ts';
import { roughBytes } from '../../bson/rough-bytes.ts';
import type { Namespace } from '../../collections/namespace.ts';
import { Row, type Rows } from '../../documents/rows.ts';
import { MongoError } from '../../errors.ts';
import { type Carry, carrierOf } from '../../metadata/metadata-scope.ts';
import { keyTexts } from '../bson-set.ts';
import type { CompareValues } from '../collated-keys.ts';
import { rootScope } from '../expressions/compile.ts';
import { parseFieldPath, valueAtPath } from '../expressions/field-path.ts';
import type { Evaluate, Frame } from '../expressions/scope.ts';
import { keyText } from '../key-text.ts';
import { collect } from './collect.ts';
import { parseFrom } from './from.ts';
import { withValue } from './simple.ts';
import { nested, type Stage, type StageContext } from './stage.ts';

interface GraphLookup {
  readonly from: Namespace;
  readonly startWith: Evaluate;
  readonly connectFrom: readonly string[];
  readonly connectTo: string;
  readonly as: readonly string[];
  readonly depthMax: number;
  readonly compare: CompareValues;
  readonly depthField: readonly string[] | undefined;
  readonly run: (filter?: BsonDocument) => Rows;
}

const OPTIONS = new Set([
  'from',
  'startWith',
  'connectFromField',
  'connectToField',
  'as',
  'maxDepth',
  'depthField',
  'restrictSearchWithMatch',
]);

/** Bytes that one search holds (documented). */
const BYTES_MAX = 100 * 1024 * 1024;

export function parseGraphLookup(argument: Bson, context: StageContext): Stage {
  if (!isDocument(argument))
    throw new MongoError(
      'FailedToParse',
      `the $graphLookup stage specification must be an object, but found ${bsonTypeOf(argument)}`,
    );
  for (const name of argument.keys())
    if (!OPTIONS.has(name))
      throw new MongoError('Location40104', `Unknown argument to $graphLookup: ${name}`);
  const path = (name: string): string => {
    const value = argument.get(name);
    if (typeof value !== 'string')
      throw new MongoError(
        value === undefined ? 'Location40105' : 'Location40103',
        `expected string as argument for ${name}, found: ${value === undefined ? 'nothing' : bsonTypeOf(value)}`,
      );
    parseFieldPath(value);
    return value;
  };
  const restriction = argument.get('restrictSearchWithMatch');
  if (restriction !== undefined && !isDocument(restriction))
    throw new MongoError(
      'Location40185',
      `restrictSearchWithMatch must be an object, found ${bsonTypeOf(restriction)}`,
    );
  const startWith = argument.get('startWith');
  const as = path('as');
  const connectFrom = path('connectFromField');
  const connectTo = path('connectToField');
  if (startWith === undefined || argument.get('from') === undefined)
    throw new MongoError(
      'Location40105',
      "$graphLookup requires 'from', 'as', 'startWith', 'connectFromField', and 'connectToField' to be specified.",
    );
  const from = parseFrom(argument.get('from'), context, false, '$graphLookup');
  const stages: Bson[] = restriction === undefined ? [] : [new Map([['$match', restriction]])];
  const lookup: GraphLookup = {
    from,
    startWith: rootScope(context.expressions).compile(startWith),
    connectFrom: parseFieldPath(connectFrom),
    connectTo,
    as: parseFieldPath(as),
    compare: context.expressions.compare,
    depthMax: depthOf(argument.get('maxDepth')),
    depthField: argument.has('depthField') ? parseFieldPath(path('depthField')) : undefined,
    run: context.host.prepare(from, stages, nested(context, { namespace: from, isFacet: false })),
  };
  return (rows) => searched(rows, lookup, carrierOf(context.expressions));
}

function depthOf(sent: Bson | undefined): number {
  if (sent === undefined) return Number.POSITIVE_INFINITY;
  if (!isNumber(sent))
    throw new MongoError(
      'Location40100',
      `maxDepth must be numeric, found type: ${bsonTypeOf(sent)}`,
    );
  const depth = doubleOf(sent);
  if (depth < 0)
    throw new MongoError(
      'Location40101',
      `maxDepth requires a nonnegative argument, found: ${depth}`,
    );
  if (!Number.isInteger(depth))
    throw new MongoError(
      'Location40102',
      `maxDepth could not be represented as a long long: ${depth}`,
    );
  return depth;
}

async function* searched(rows: Rows, lookup: GraphLookup, carry: Carry): Rows {
  const frame: Frame = [];
  for await (const batch of rows) {
    const made: Row[] = [];
    for (const { document } of batch) {
      frame[0] = document;
      const found = await search(lookup.startWith(frame), lookup);
      made.push(Row.of(carry(withValue(document, lookup.as, 0, found), document)));
    }
    yield made;
  }
}

/** Breadth first: all documents of one number of links are searched for at once. */
async function search(start: Bson | undefined, lookup: GraphLookup): Promise<readonly Bson[]> {
  const found = new Map<string, BsonDocument>();
  const seen = new Set<string>();
  const textOf = keyTexts(lookup.compare);
  let frontier = fresh(start, seen, textOf);
  let bytes = 0;
  for (let depth = 0; depth <= lookup.depthMax && frontier.length > 0; depth++) {
    const filter = new Map<string, Bson>([[lookup.connectTo, new Map([['$in', frontier]])]]);
    const next: Bson[] = [];
    for (const document of await collect(lookup.run(filter), '$graphLookup')) {
      const id = keyText(document.get('_id') ?? null);
      if (found.has(id)) continue;
      bytes += roughBytes(document);
      if (bytes > BYTES_MAX)
        throw new MongoError('Location40099', '$graphLookup reached maximum memory consumption');
      found.set(
        id,
        lookup.depthField === undefined
          ? document
          : withValue(document, lookup.depthField, 0, BigInt(depth)),
      );
      append(next, fresh(valueAtPath(document, lookup.connectFrom, 0), seen, textOf));
    }
    frontier = next;
  }
  return [...found.values()];
}

/** The values that were not searched for yet; missing ones lead nowhere. */
function fresh(
  value: Bson | undefined,
  seen: Set<string>,
  textOf: (value: Bson) => string,
): Bson[] {
  if (value === undefined) return [];
  const made: Bson[] = [];
  for (const one of isArray(value) ? value : [value]) {
    const key = textOf(one);
    if (seen.has(key)) continue;
    seen.add(key);
    made.push(one);
  }
  return made;
}
