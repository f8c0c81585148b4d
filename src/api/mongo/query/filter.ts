/** A filter as data: the planner looks at it, and `filter-test.ts` compiles it to a function. */
import type { Bson, BsonDocument, BsonType } from '../../../value/index.ts';
import { MongoError } from '../errors.ts';
import type { ScriptCalls } from '../scripts/script-calls.ts';
import type { GeoSearch } from './geo/geo-tests.ts';
import type { NearQuery } from './geo/near.ts';
import type { FieldPath } from './path.ts';
import type { TextQuery } from './text/text-query.ts';

export type Filter =
  | { readonly kind: 'and' | 'or' | 'nor'; readonly of: readonly Filter[] }
  | { readonly kind: 'field'; readonly path: FieldPath; readonly test: FieldTest }
  /** Constants: `$alwaysTrue`, `$alwaysFalse`. */
  | { readonly kind: 'always'; readonly matches: boolean }
  /** `$expr`, `$jsonSchema`, `$sampleRate`: compiled when they are parsed, and unknown to indexes. */
  | { readonly kind: 'computed'; readonly test: (document: BsonDocument) => boolean }
  /** A test that calls functions of clients: documents are prepared for it, see `scripts/`. */
  | {
      readonly kind: 'scripted';
      readonly test: (document: BsonDocument) => boolean;
      readonly calls: ScriptCalls;
      readonly isWhere: boolean;
    }
  | { readonly kind: 'text'; readonly query: TextQuery };

export type Comparison = 'eq' | 'gt' | 'gte' | 'lt' | 'lte';

export type FieldTest =
  | { readonly kind: Comparison; readonly value: Bson }
  | { readonly kind: 'in'; readonly values: readonly Bson[]; readonly regexes: readonly Bson[] }
  | { readonly kind: 'not'; readonly of: readonly FieldTest[] }
  | { readonly kind: 'exists'; readonly wants: boolean }
  | { readonly kind: 'type'; readonly types: ReadonlySet<BsonType> }
  | { readonly kind: 'regex'; readonly source: string; readonly flags: string }
  | { readonly kind: 'mod'; readonly divisor: bigint; readonly remainder: bigint }
  | { readonly kind: 'size'; readonly length: number }
  | { readonly kind: 'bits'; readonly positions: readonly number[]; readonly wants: BitsWanted }
  | ({ readonly kind: 'geo' } & GeoSearch)
  | { readonly kind: 'near'; readonly near: NearQuery }
  | { readonly kind: 'elementMatches'; readonly filter: Filter }
  | { readonly kind: 'elementPasses'; readonly tests: readonly FieldTest[] }
  | { readonly kind: 'never' };

/** Whether all or any of the bits of the mask must be set or clear. */
export type BitsWanted = 'allSet' | 'allClear' | 'anySet' | 'anyClear';

export const EVERYTHING: Filter = { kind: 'and', of: [] };

/** The conditions that all must hold, with nested conjunctions opened. */
export function conjuncts(filter: Filter): readonly Filter[] {
  if (filter.kind !== 'and') return [filter];
  return filter.of.flatMap(conjuncts);
}

/** The value that the filter asks of a field by equality; undefined where it does not ask for exactly one. */
export function equalityOn(filter: Filter, field: string): Bson | undefined {
  for (const part of conjuncts(filter)) {
    if (part.kind !== 'field' || part.path.join('.') !== field) continue;
    if (part.test.kind === 'eq') return part.test.value;
    if (part.test.kind === 'in' && part.test.values.length === 1 && part.test.regexes.length === 0)
      return part.test.values[0];
  }
  return undefined;
}

/**
 * All fields that the filter asks to equal a value, for the document that an upsert makes. Refuses a field that is asked
 * for twice.
 */
export function equalities(filter: Filter, isIdOnly = false): BsonDocument {
  const found = new Map<string, Bson>();
  for (const [path, value] of equalParts(filter)) {
    if (isIdOnly && path !== '_id') continue;
    for (const other of found.keys())
      if (other === path || other.startsWith(`${path}.`) || path.startsWith(`${other}.`))
        throw new MongoError(
          'NotSingleValueField',
          `cannot infer query fields to set, path '${path}' is matched twice`,
        );
    found.set(path, value);
  }
  return found;
}

function* equalParts(filter: Filter): Generator<readonly [string, Bson]> {
  for (const part of conjuncts(filter))
    if (part.kind === 'or' && part.of.length === 1) yield* equalParts(part.of[0] as Filter);
    else if (part.kind === 'field') {
      const { test } = part;
      const isOne = test.kind === 'in' && test.values.length === 1 && test.regexes.length === 0;
      if (test.kind === 'eq') yield [part.path.join('.'), test.value];
      else if (isOne) yield [part.path.join('.'), test.values[0] as Bson];
    }
}

/** Every part of a filter, the inner ones of `$and`, `$or` and `$nor` included. */
export function* partsOf(filter: Filter): Generator<Filter> {
  yield filter;
  if (filter.kind === 'and' || filter.kind === 'or' || filter.kind === 'nor')
    for (const part of filter.of) yield* partsOf(part);
}

/** The fields that a filter looks at; undefined where it may look at any. */
export function fieldsOf(filter: Filter): ReadonlySet<string> | undefined {
  const names = new Set<string>();
  for (const part of partsOf(filter))
    if (part.kind === 'field') names.add(part.path[0] as string);
    else if (part.kind === 'computed' || part.kind === 'scripted' || part.kind === 'text')
      return undefined;
  return names;
}

/** The part that orders documents by distance; undefined where there is none. */
export function nearOf(
  filter: Filter,
): { readonly path: FieldPath; readonly near: NearQuery } | undefined {
  for (const part of conjuncts(filter))
    if (part.kind === 'field' && part.test.kind === 'near')
      return { path: part.path, near: part.test.near };
  return undefined;
}

/** Orders by distance belong to find; other commands cannot return them in order. */
export function refuseNear(filter: Filter): void {
  if (nearOf(filter) !== undefined)
    throw new MongoError(
      'Location5626500',
      '$geoNear, $near, and $nearSphere are not allowed in this context, as these operators require sorting ' +
        'geospatial data. If you do not need sort, consider using $geoWithin instead.',
    );
}

export type ScriptedFilter = Extract<Filter, { readonly kind: 'scripted' }>;

/** The parts that call functions of clients. */
export function scriptedParts(filter: Filter): readonly ScriptedFilter[] {
  const found: ScriptedFilter[] = [];
  for (const part of partsOf(filter)) if (part.kind === 'scripted') found.push(part);
  return found;
}

/** Pipelines have `$function` instead. */
export function refuseWhere(filter: Filter): void {
  if (scriptedParts(filter).some(({ isWhere }) => isWhere))
    throw new MongoError('BadValue', '$where is not allowed in this context');
}

export function textOf(filter: Filter): TextQuery | undefined {
  for (const part of partsOf(filter)) if (part.kind === 'text') return part.query;
  return undefined;
}
