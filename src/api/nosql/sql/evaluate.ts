/**
 * The reference executor: runs a whole compiled query over documents in memory, clause by clause. Tests and small feeds
 * use it as it is; an executor over indexes reuses the blocks it is made of.
 */
import { assert } from '../../../base/index.ts';
import { compareValues, isList, type Value } from '../../../value/index.ts';
import type { Fold } from './aggregates.ts';
import {
  type Block,
  type Compiled,
  type CompiledQuery,
  type CompiledSource,
  type Grouping,
  type Slots,
  START_SLOT,
} from './block.ts';
import { problems, SqlError } from './errors.ts';
import { fuseScores, scoreInputs } from './rank.ts';
import { type ValueKey, valueKey } from './value-key.ts';

export interface QueryParameter {
  /** With the @. */
  readonly name: string;
  readonly value?: Value;
}

/** All results of the query over the documents. Throws SqlError for a parameter without a value or a bad count. */
export function runQuery(
  query: CompiledQuery,
  documents: Iterable<Value>,
  parameters: readonly QueryParameter[] = [],
  startMs = 0,
): Value[] {
  return resultsOf(query.block, newRow(query, parameters, startMs), documents);
}

/** A row with the start time and the parameters in place. */
export function newRow(
  query: CompiledQuery,
  parameters: readonly QueryParameter[],
  startMs: number,
): Slots {
  const row: Slots = new Array(query.slotCount).fill(undefined);
  row[START_SLOT] = startMs;
  const given = new Map(parameters.map(({ name, value }) => [name, value]));
  for (const [name, slot] of query.parameters) {
    if (!given.has(name)) throw new SqlError(problems.identifier(name, { start: 0, end: 0 }));
    row[slot] = given.get(name);
  }
  return row;
}

/** The results of one block, as a subquery of the row or, with documents, as the outermost query. */
export function resultsOf(block: Block, row: Slots, documents?: Iterable<Value>): Value[] {
  return firstResults(block, row, Number.POSITIVE_INFINITY, documents);
}

/** As many results as asked for, without computing more than that needs. */
export function firstResults(
  block: Block,
  row: Slots,
  countMax: number,
  documents?: Iterable<Value>,
): Value[] {
  const skip = count(block.offset, row, problems.offset) ?? 0;
  const top = count(block.top, row, problems.top) ?? Number.POSITIVE_INFINITY;
  const limit = count(block.limit, row, problems.limit) ?? Number.POSITIVE_INFINITY;
  const take = Math.min(top, limit, countMax);
  if (take === 0) return [];
  const results = new Results(
    block,
    block.orderBy.length > 0 || block.rank ? undefined : skip + take,
  );
  const isSingleOrder = block.orderBy.length === 1 && documents !== undefined && !block.grouping;
  const emit = (from: Slots): boolean => {
    const value = block.project(from);
    if (value === undefined) return false;
    const keys = block.rank
      ? scoreInputs(block.rank, from)
      : block.orderBy.map((order) => order.value(from));
    // An index on the property has no entry for items without it.
    if (isSingleOrder && keys[0] === undefined) return false;
    return results.add(value, keys);
  };
  if (block.grouping) emitGroups(block, block.grouping, row, documents, emit);
  else emitRows(block, row, documents, emit);
  return results.sorted().slice(skip, skip + take);
}

function count(
  value: Compiled | undefined,
  row: Slots,
  problem: typeof problems.top,
): number | undefined {
  if (!value) return undefined;
  const number = value(row);
  if (typeof number !== 'number' || !Number.isInteger(number) || number < 0)
    throw new SqlError(problem({ start: 0, end: 0 }));
  return number;
}

/** Takes projected rows, drops repeated ones, and puts them in order. */
class Results {
  readonly #block: Block;
  readonly #enough: number;
  readonly #seen: Set<ValueKey> | undefined;
  readonly #values: Value[] = [];
  readonly #keys: (readonly Value[])[] = [];

  constructor(block: Block, enough: number | undefined) {
    this.#block = block;
    this.#enough = enough ?? Number.POSITIVE_INFINITY;
    this.#seen = block.isDistinct ? new Set() : undefined;
  }

  /** True when no further row can matter. */
  add(value: Value, keys: readonly Value[]): boolean {
    if (this.#seen) {
      const key = valueKey(value);
      if (this.#seen.has(key)) return false;
      this.#seen.add(key);
    }
    this.#values.push(value);
    if (keys.length > 0) this.#keys.push(keys);
    return this.#values.length >= this.#enough;
  }

  sorted(): Value[] {
    const { rank, orderBy } = this.#block;
    if (!rank && orderBy.length === 0) return this.#values;
    const keys = rank ? fuseScores(rank, this.#keys).map((score) => [-score]) : this.#keys;
    const signs = rank ? [1] : orderBy.map((order) => (order.isDescending ? -1 : 1));
    const order = this.#values.map((_, at) => at);
    order.sort((a, b) => {
      for (const [at, sign] of signs.entries()) {
        const difference = compareValues(keys[a]?.[at], keys[b]?.[at]);
        if (difference !== 0) return sign * difference;
      }
      return a - b;
    });
    return order.map((at) => this.#values[at]);
  }
}

/** Calls emit with the row for every combination of sources that passes WHERE, until emit says that it is enough. */
function emitRows(
  block: Block,
  row: Slots,
  documents: Iterable<Value> | undefined,
  emit: (row: Slots) => boolean,
): void {
  const { sources, where } = block;
  const expand = (at: number): boolean => {
    const source = sources[at];
    if (!source) return (where === undefined || where(row) === true) && emit(row);
    for (const value of valuesOf(source, row, documents)) {
      row[source.slot] = value;
      if (expand(at + 1)) return true;
    }
    return false;
  };
  expand(0);
}

function* valuesOf(
  source: CompiledSource,
  row: Slots,
  documents: Iterable<Value> | undefined,
): Iterable<Value> {
  switch (source.kind) {
    case 'container':
      assert(documents, 'only the outermost query reads the container');
      for (const document of documents) {
        row[source.slot] = document;
        const value = source.path ? source.path(row) : document;
        if (value !== undefined) yield value;
      }
      return;
    case 'value': {
      const value = source.value(row);
      if (value !== undefined) yield value;
      return;
    }
    case 'elements': {
      const list = source.list(row);
      if (isList(list)) yield* list;
      return;
    }
    case 'subquery':
      for (const value of resultsOf(source.block, row, documents)) {
        if (!source.isIterated) yield value;
        else if (isList(value)) yield* value;
      }
      return;
  }
}

interface Group {
  /** A copy of the first row of the group, with the keys in their slots. */
  readonly row: Slots;
  readonly folds: readonly Fold[];
}

function emitGroups(
  block: Block,
  grouping: Grouping,
  row: Slots,
  documents: Iterable<Value> | undefined,
  emit: (row: Slots) => boolean,
): void {
  const groups = new Map<ValueKey, Group>();
  const open = (key: ValueKey, keys: readonly Value[]): Group => {
    const copy = row.slice();
    for (const [at, { slot }] of grouping.keys.entries()) copy[slot] = keys[at];
    const group = {
      row: copy,
      folds: grouping.aggregates.map(({ aggregate }) => aggregate.start()),
    };
    groups.set(key, group);
    return group;
  };
  if (grouping.isSingle) open(undefined, []);
  emitRows(block, row, documents, (from) => {
    const keys = grouping.keys.map(({ value }) => value(from));
    const key = grouping.isSingle ? undefined : groupKey(keys);
    const group = groups.get(key) ?? open(key, keys);
    for (const [at, { argument }] of grouping.aggregates.entries())
      group.folds[at]?.add(argument(from));
    return false;
  });
  for (const group of groups.values()) {
    for (const [at, { slot }] of grouping.aggregates.entries())
      group.row[slot] = group.folds[at]?.end();
    if (emit(group.row)) return;
  }
}

/** Undefined keys are a group of their own, apart from null. */
function groupKey(keys: readonly Value[]): ValueKey {
  if (keys.length === 1 && keys[0] !== undefined) return valueKey(keys[0]);
  return keys.map((value) => (value === undefined ? 'u' : `d${valueKey([value])}`)).join('\u0000');
}
