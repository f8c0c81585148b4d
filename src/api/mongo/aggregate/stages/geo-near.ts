/** `$geoNear`: documents by their distance from a point, with the distance as a field. */
import {
  type Bson,
  type BsonDocument,
  bsonTypeOf,
  Double,
  isArray,
  isDocument,
} from '../../../../value/index.ts';
import { doubleOf, isNumber } from '../../bson/arithmetic.ts';
import { Row, type Rows } from '../../documents/rows.ts';
import { MongoError } from '../../errors.ts';
import { foundMetadata } from '../../metadata/found-metadata.ts';
import { withMetadata } from '../../metadata/metadata.ts';
import { type NearQuery, nearestPlace, parseNear } from '../../query/geo/near.ts';
import { rootScope } from '../expressions/compile.ts';
import { isTruthy } from '../expressions/define.ts';
import { parseFieldPath } from '../expressions/field-path.ts';
import { constantOf } from '../expressions/scope.ts';
import { withValue } from './simple.ts';
import { nested, type Stage, type StageContext, type StageTable } from './stage.ts';

export const GEO_STAGES: StageTable = {
  $geoNear: { parse: parseGeoNear, position: 'first', isSource: true, isBannedInFacet: true },
};

interface GeoNear {
  readonly near: NearQuery;
  /** The order by distance, as a find has it. */
  readonly operators: BsonDocument;
  /** Undefined: the field of the only geospatial index. */
  readonly key: string | undefined;
  readonly distanceField: readonly string[] | undefined;
  readonly includeLocs: readonly string[] | undefined;
  readonly multiplier: number;
  /** The documents that pass the query and a further filter. */
  readonly run: (filter?: BsonDocument) => Rows;
  /** True where the least distance is beyond all. */
  readonly isEmpty: boolean;
}

const OPTIONS = new Set([
  'near',
  'distanceField',
  'spherical',
  'maxDistance',
  'minDistance',
  'query',
  'distanceMultiplier',
  'includeLocs',
  'key',
  'uniqueDocs',
  'limit',
  'num',
]);

function parseGeoNear(argument: Bson, context: StageContext): Stage {
  if (isArray(argument))
    throw new MongoError('Location5860400', "$geoNear requires a 'near' argument");
  if (!isDocument(argument))
    throw new MongoError('Location10065', 'invalid parameter: expected an object ($geoNear)');
  for (const name of argument.keys())
    if (!OPTIONS.has(name))
      throw new MongoError('BadValue', `Unknown argument to $geoNear: ${name}`);
  const distanceField = fieldOf(argument, 'distanceField', 'Location16606');
  const includeLocs = fieldOf(argument, 'includeLocs', 'Location16607');
  const key = keyOf(argument.get('key'));
  const query = argument.has('query') ? (argument.get('query') as Bson) : new Map();
  if (!isDocument(query))
    throw new MongoError('TypeMismatch', `query must be an object, found ${bsonTypeOf(query)}`);
  if (query.has('$text'))
    throw new MongoError('BadValue', '$text is not allowed inside of a $geoNear aggregation query');
  const parsed: GeoNear = {
    ...nearOf(argument, context),
    isEmpty: isEndless(argument.get('minDistance')),
    key,
    distanceField,
    includeLocs,
    multiplier: multiplierOf(argument.get('distanceMultiplier')),
    run: context.host.prepare(context.namespace, [new Map([['$match', query]])], nested(context)),
  };
  return () => ordered(parsed, context);
}

function fieldOf(
  argument: BsonDocument,
  name: string,
  code: 'Location16606' | 'Location16607',
): readonly string[] | undefined {
  const value = argument.get(name);
  if (value === undefined) return undefined;
  if (typeof value !== 'string')
    throw new MongoError(code, `$geoNear requires a '${name}' option as a String`);
  const steps = parseFieldPath(value);
  if (steps.length > RESULT_STEPS_MAX)
    throw new MongoError('Location5984700', `$geoNear: '${name}' is too deep`);
  return steps;
}

/** Steps of the names of results, which documents of 200 levels have room for. */
const RESULT_STEPS_MAX = 199;
/** Steps of the field that is searched. */
const KEY_STEPS_MAX = 180;

/** An infinite bound is none, or one that nothing passes. */
function isEndless(sent: Bson | undefined): boolean {
  return isNumber(sent) && doubleOf(sent as Bson) === Number.POSITIVE_INFINITY;
}

function keyOf(sent: Bson | undefined): string | undefined {
  if (sent === undefined) return undefined;
  if (typeof sent !== 'string')
    throw new MongoError(
      'TypeMismatch',
      `$geoNear parameter 'key' must be of type string but found type: ${bsonTypeOf(sent)}`,
    );
  if (sent === '')
    throw new MongoError('BadValue', "$geoNear parameter 'key' cannot be the empty string");
  if (parseFieldPath(sent).length > KEY_STEPS_MAX)
    throw new MongoError('Location5729100', "$geoNear parameter 'key' is too deep");
  return sent;
}

function multiplierOf(sent: Bson | undefined): number {
  if (sent === undefined) return 1;
  if (!isNumber(sent)) throw new MongoError('TypeMismatch', 'distanceMultiplier must be a number');
  const multiplier = doubleOf(sent);
  if (!(multiplier >= 0))
    throw new MongoError('BadValue', 'distanceMultiplier must be nonnegative');
  return multiplier;
}

function nearOf(
  argument: BsonDocument,
  { expressions }: StageContext,
): Pick<GeoNear, 'near' | 'operators'> {
  const sent = argument.get('near');
  if (sent === undefined)
    throw new MongoError('Location5860400', "$geoNear requires a 'near' argument");
  const scope = rootScope(expressions);
  const known = constantOf(scope.compile(sent));
  const bound = (name: 'minDistance' | 'maxDistance'): readonly [string, Bson][] => {
    const value = argument.get(name);
    if (value === undefined) return [];
    const constant = constantOf(scope.compile(value));
    if (constant === undefined)
      throw new MongoError(
        name === 'minDistance' ? 'Location7555701' : 'Location7555702',
        `$geoNear requires a constant '${name}'`,
      );
    const distance = constant.value ?? null;
    if (!isNumber(distance)) throw new MongoError('TypeMismatch', `${name} must be a number`);
    if (!(doubleOf(distance) >= 0)) throw new MongoError('BadValue', `${name} must be nonnegative`);
    return isEndless(distance) ? [] : [[`$${name}`, distance]];
  };
  if (known === undefined)
    throw new MongoError('Location5860402', "$geoNear requires a constant 'near' argument");
  const point = plainPoint(known.value);
  if (!isDocument(point) && !isArray(point))
    throw new MongoError(
      'Location5860401',
      "$geoNear requires 'near' to be a GeoJSON point or a legacy coordinate pair",
    );
  if (isArray(point) && point.length > LEGACY_NUMBERS_MAX)
    throw new MongoError('BadValue', 'A legacy point has two numbers and maybe a distance');
  const bounds = new Map<string, Bson>([...bound('minDistance'), ...bound('maxDistance')]);
  if (isDocument(point) && point.has('type')) {
    const sent = new Map<string, Bson>([['$geometry', point], ...bounds]);
    return {
      near: parseNear('$nearSphere', sent, new Map()),
      operators: new Map([['$nearSphere', sent]]),
    };
  }
  const name = isTruthy(argument.get('spherical')) ? '$nearSphere' : '$near';
  return {
    near: parseNear(name, point, bounds),
    operators: new Map<string, Bson>([[name, point], ...bounds]),
  };
}

/** Two numbers, and a distance in old spellings. */
const LEGACY_NUMBERS_MAX = 3;

/** A GeoJSON point without its type, or with its coordinates as a document. */
function plainPoint(sent: Bson | undefined): Bson | undefined {
  const coordinates = isDocument(sent) ? sent.get('coordinates') : undefined;
  if (!isDocument(sent) || coordinates === undefined) return sent;
  const list = isDocument(coordinates) ? [...coordinates.values()] : coordinates;
  return new Map<string, Bson>([['type', 'Point'], ...sent, ['coordinates', list]]);
}

/** The plane of a 2d index has the bounds of longitudes. */
function checkPlane({ unit, center }: NearQuery): void {
  if (unit === 'plane' && center.some((number) => Math.abs(number) > PLANE_MAX))
    throw new MongoError(
      'Location16433',
      `point not in interval of [ -${PLANE_MAX}, ${PLANE_MAX} ]`,
    );
}

const PLANE_MAX = 180;

async function* ordered(parsed: GeoNear, { host, namespace, expressions }: StageContext): Rows {
  const path = pathOf(parsed, host.geoFields(namespace));
  if (parsed.isEmpty) return;
  checkPlane(parsed.near);
  const { near, operators, distanceField, includeLocs, multiplier } = parsed;
  const isWanted = expressions.metadata?.wants() === true;
  for await (const batch of parsed.run(new Map([[path.join('.'), operators]])))
    yield batch.map(({ document, rid }) => {
      const { distance, place } = nearestPlace(document, path, near);
      let made = document;
      if (distanceField !== undefined)
        made = withValue(made, distanceField, 0, new Double(distance * multiplier));
      if (includeLocs !== undefined) made = withValue(made, includeLocs, 0, place);
      if (isWanted)
        made = withMetadata(made, foundMetadata(document, rid, { near: { path, near } }));
      return Row.of(made);
    });
}

interface GeoField {
  readonly field: string;
  readonly kind: string;
}

function pathOf(
  { key, near }: GeoNear,
  fields: readonly GeoField[] | undefined,
): readonly string[] {
  if (fields === undefined)
    throw new MongoError('NamespaceNotFound', '$geoNear needs a collection that exists');
  const fits = ({ kind }: GeoField): boolean =>
    near.unit === 'plane' ? kind === '2d' : near.isGeoJson ? kind === '2dsphere' : true;
  if (key !== undefined) {
    if (!fields.some((own) => own.field === key && fits(own)))
      throw new MongoError(
        'NoQueryExecutionPlans',
        'error processing query: unable to find index for $geoNear query',
      );
    return parseFieldPath(key);
  }
  if (fields.length === 0)
    throw new MongoError(
      'IndexNotFound',
      '$geoNear requires a 2d or 2dsphere index, but none were found',
    );
  for (const kind of ['2d', '2dsphere']) {
    const own = fields.filter((one) => one.kind === kind);
    if (own.length > 1)
      throw new MongoError(
        'IndexNotFound',
        `There is more than one ${kind} index; unsure which to use for $geoNear`,
      );
  }
  const chosen = fields.find(fits);
  if (chosen === undefined)
    throw new MongoError(
      'NoQueryExecutionPlans',
      'error processing query: unable to find index for $geoNear query',
    );
  return parseFieldPath(chosen.field);
}
