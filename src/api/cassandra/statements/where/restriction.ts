/** One relation of WHERE, checked: what it restricts, and how. */
import type { Bytes } from '../../../../base/index.ts';
import type { Comparison, Relation, Term } from '../../cql/ast.ts';
import { invalid } from '../../errors.ts';
import type { ColumnSchema, TableSchema } from '../../schema/table-schema.ts';
import {
  type CqlType,
  durationsOf,
  isCollection,
  isMultiCell,
  native,
  typeText,
} from '../../types/cql-type.ts';
import { componentsOf, elementsOf } from '../../types/values.ts';
import { comparedValue, compileIn, compileTerm } from '../expressions/compile.ts';
import type { TermContext, TermValue } from '../expressions/context.ts';
import { termText } from '../expressions/term-text.ts';
import type { Call } from '../plan.ts';
import { columnNamed } from '../scope.ts';
import { type LikeOptions, likeOptions } from './like.ts';

/** Values of the columns of a restriction: several alternatives for IN. */
export type KeyValues = (call: Call) => readonly (readonly Bytes[])[];

export interface Bound {
  readonly columns: number;
  readonly isInclusive: boolean;
  /** The value of one column, without the checks of keys. */
  readonly term: TermValue | undefined;
  values(call: Call): readonly Bytes[];
}

/** CONTAINS, CONTAINS KEY, an entry of a map, or a part of a text. */
export interface Contained {
  readonly part: 'values' | 'keys' | 'entries' | 'like';
  readonly like?: LikeOptions;
  readonly key: TermValue | undefined;
  readonly value: TermValue | undefined;
}

export type Restriction =
  | {
      readonly kind: 'eq' | 'in';
      readonly columns: readonly ColumnSchema[];
      readonly isMulti: boolean;
      readonly values: KeyValues;
      /** The value of one column, without the checks of keys. */
      readonly term: TermValue | undefined;
    }
  | {
      readonly kind: 'slice';
      readonly columns: readonly ColumnSchema[];
      readonly isMulti: boolean;
      readonly lower: Bound | undefined;
      readonly upper: Bound | undefined;
    }
  | {
      readonly kind: 'contains';
      readonly columns: readonly ColumnSchema[];
      readonly isMulti: false;
      readonly contained: readonly Contained[];
    };

/** @param keepsMarkers - notes bind markers of the partition key, for token-aware drivers. */
export function restrictionOf(
  relation: Exclude<Relation, { kind: 'token' | 'notNull' }>,
  schema: TableSchema,
  context: TermContext,
): Restriction {
  if (relation.kind === 'columns' || relation.kind === 'columnsIn')
    return multiRestriction(relation, schema, context);
  const column = columnNamed(schema, relation.column);
  if (relation.kind === 'column' && relation.operator === '!=')
    throw invalid(`Unsupported "!=" relation: ${relation.column} != ${termText(relation.term)}`);
  if (relation.kind === 'column' && /^[<>]/.test(relation.operator)) checkDurations(column);
  checkColumn(relation, column);
  const { name, type } = column;
  const columns = [column];
  if (relation.kind === 'in') {
    const { terms } = relation;
    const only = Array.isArray(terms) && terms.length === 1 ? (terms[0] as Term) : undefined;
    if (only !== undefined) return equality(column, only, context);
    const values = compileIn(terms, column, context);
    return {
      kind: 'in',
      columns,
      isMulti: false,
      term: undefined,
      values: (call) => values(call).map((value) => [comparedValue(value, name)]),
    };
  }
  if (relation.kind === 'element' && type.kind === 'map') {
    const key = compileTerm(relation.element, { name: `key(${name})`, type: type.key }, context);
    const value = compileTerm(relation.term, { name: `value(${name})`, type: type.value }, context);
    return contains(column, { part: 'entries', key, value });
  }
  const { operator, term } = relation;
  switch (operator) {
    case 'CONTAINS': {
      const of = type.kind === 'map' ? type.value : elementOf(type);
      return contains(column, {
        part: 'values',
        key: undefined,
        value: compileTerm(term, { name: `value(${name})`, type: of }, context),
      });
    }
    case 'CONTAINS KEY': {
      const of = type.kind === 'map' ? type.key : elementOf(type);
      return contains(column, {
        part: 'keys',
        key: compileTerm(term, { name: `key(${name})`, type: of }, context),
        value: undefined,
      });
    }
    case 'LIKE': {
      const like = likeOptions(column, schema);
      if (like === undefined)
        throw invalid(
          `LIKE restriction is only supported on properly indexed columns. ${name} LIKE ${termText(term)} is not valid.`,
        );
      const value = compileTerm(term, column, context);
      return contains(column, { part: 'like', like, key: undefined, value });
    }
    case '=':
      return equality(column, term, context);
    default:
      return slice(column, operator, term, context);
  }
}

function elementOf(type: CqlType): CqlType {
  return type.kind === 'list' || type.kind === 'set' ? type.element : native('int');
}

function contains(column: ColumnSchema, contained: Contained): Restriction {
  return { kind: 'contains', columns: [column], isMulti: false, contained: [contained] };
}

function equality(column: ColumnSchema, term: Term, context: TermContext): Restriction {
  const { name } = column;
  if (term.kind === 'bind' && column.kind === 'partition_key')
    context.scope.keyMarkers.set(name, term.index);
  const value = compileTerm(term, column, context);
  return {
    kind: 'eq',
    columns: [column],
    isMulti: false,
    term: value,
    values: (call) => [[comparedValue(value(call), name)]],
  };
}

function slice(
  column: ColumnSchema,
  operator: Comparison,
  term: Term,
  context: TermContext,
): Restriction {
  const { name } = column;
  const value = compileTerm(term, column, context);
  const bound: Bound = {
    columns: 1,
    isInclusive: operator === '>=' || operator === '<=',
    term: value,
    values: (call) => [comparedValue(value(call), name)],
  };
  const isLower = operator === '>' || operator === '>=';
  return {
    kind: 'slice',
    columns: [column],
    isMulti: false,
    lower: isLower ? bound : undefined,
    upper: isLower ? undefined : bound,
  };
}

function checkDurations({ type }: ColumnSchema): void {
  const what = durationsOf(type);
  if (what !== undefined) throw invalid(`Slice restrictions are not supported on ${what}`);
}

type SingleRelation = Extract<Relation, { kind: 'column' | 'in' | 'element' }>;

/** What each kind of column can be compared with. */
function checkColumn(relation: SingleRelation, { name, type, kind }: ColumnSchema): void {
  const operator = operatorText(relation);
  const isKey = kind === 'partition_key' || kind === 'clustering';
  if (
    relation.kind === 'in' &&
    !isKey &&
    !(Array.isArray(relation.terms) && relation.terms.length === 1)
  )
    throw invalid(`IN predicates on non-primary-key columns (${name}) is not yet supported`);
  if (operator === 'CONTAINS KEY' && type.kind !== 'map')
    throw invalid(`Cannot use CONTAINS KEY on non-map column ${name}`);
  if (operator === 'CONTAINS' && !isCollection(type))
    throw invalid(`Cannot use CONTAINS on non-collection column ${name}`);
  if (relation.kind === 'element') {
    if (type.kind === 'list')
      throw invalid(
        `Indexes on list entries (${name}[index] = value) are not currently supported.`,
      );
    if (type.kind !== 'map') throw invalid(`Column ${name} cannot be used as a map`);
    if (!isMultiCell(type))
      throw invalid(`Map-entry equality predicates on frozen map column ${name} are not supported`);
    if (operator !== '=') throw invalid('Only EQ relations are supported on map entries');
  }
  if (type.kind === 'user' && isMultiCell(type))
    throw invalid(
      `Non-frozen UDT column '${name}' (${typeText(type)}) cannot be restricted by any relation`,
    );
  const isLegal =
    operator === 'CONTAINS' || operator === 'CONTAINS KEY' || relation.kind === 'element';
  if (isCollection(type) && isMultiCell(type) && !isLegal)
    throw invalid(
      `Collection column '${name}' (${typeText(type)}) cannot be restricted by a '${operator}' relation`,
    );
}

function operatorText(relation: SingleRelation): string {
  return relation.kind === 'in' ? 'IN' : relation.operator;
}

type MultiRelation = Extract<Relation, { kind: 'columns' | 'columnsIn' }>;

function multiRestriction(
  relation: MultiRelation,
  schema: TableSchema,
  context: TermContext,
): Restriction {
  if (relation.kind === 'columns' && relation.operator === '!=')
    throw invalid(`Unsupported "!=" relation: ${relationText(relation)}`);
  const columns = multiColumns(relation, schema);
  const names = relation.columns.join(',');
  const tuple: CqlType = { kind: 'tuple', elements: columns.map(({ type }) => type) };
  const partsOf = (bytes: Bytes): readonly Bytes[] =>
    componentsOf(tuple, bytes).map((part, at) =>
      comparedValue(part ?? null, columns[at]?.name ?? ''),
    );
  if (relation.kind === 'columnsIn') {
    const target = { name: `(${names})`, type: tuple };
    const { terms } = relation;
    if (Array.isArray(terms)) for (const term of terms) checkTuple(term as Term, columns, relation);
    if (!Array.isArray(terms)) {
      const list: CqlType = { kind: 'list', element: tuple, isFrozen: true };
      const all = compileTerm(terms as Term, { name: `in(${names})`, type: list }, context);
      return {
        kind: 'in',
        columns,
        isMulti: true,
        term: undefined,
        values: (call) =>
          elementsOf(comparedTuple(all(call), `in(${names})`)).map((element) =>
            partsOf(comparedTuple(element ?? null, `in(${names})`)),
          ),
      };
    }
    const values = compileIn(terms, target, context);
    const isOne = (terms as readonly Term[]).length === 1;
    return {
      kind: isOne ? 'eq' : 'in',
      columns,
      isMulti: true,
      term: undefined,
      values: (call) => values(call).map((value) => partsOf(comparedTuple(value, `(${names})`))),
    };
  }
  const { operator, term } = relation;
  checkTuple(term, columns, relation);
  const value = compileTerm(term, { name: `(${names})`, type: tuple }, context);
  const values = (call: Call): readonly Bytes[] =>
    partsOf(comparedTuple(value(call), `(${names})`));
  if (operator === '=')
    return {
      kind: 'eq',
      columns,
      isMulti: true,
      term: undefined,
      values: (call) => [values(call)],
    };
  const bound: Bound = {
    columns: columns.length,
    isInclusive: operator === '>=' || operator === '<=',
    term: undefined,
    values,
  };
  const isLower = operator === '>' || operator === '>=';
  return {
    kind: 'slice',
    columns,
    isMulti: true,
    lower: isLower ? bound : undefined,
    upper: isLower ? undefined : bound,
  };
}

function comparedTuple(value: ReturnType<TermValue>, name: string): Bytes {
  if (value === null) throw invalid(`Invalid null value in condition for columns: ${name}`);
  if (!(value instanceof Uint8Array)) throw invalid(`Invalid unset value for tuple ${name}`);
  return value;
}

function checkTuple(term: Term, columns: readonly ColumnSchema[], relation: MultiRelation): void {
  if (term.kind !== 'tuple' || term.elements.length === columns.length) return;
  throw invalid(
    `Expected ${columns.length} elements in value tuple, but got ${term.elements.length}: ${termText(term)}`.replace(
      /\(undefined\)$/,
      relationText(relation),
    ),
  );
}

function relationText(relation: MultiRelation): string {
  const right =
    relation.kind === 'columns'
      ? `${relation.operator} ${termText(relation.term)}`
      : `IN ${Array.isArray(relation.terms) ? `(${relation.terms.map(termText).join(', ')})` : termText(relation.terms as Term)}`;
  return `(${relation.columns.join(', ')}) ${right}`;
}

function multiColumns(relation: MultiRelation, schema: TableSchema): readonly ColumnSchema[] {
  const columns: ColumnSchema[] = [];
  for (const name of relation.columns) {
    const column = columnNamed(schema, name);
    if (column.kind !== 'clustering')
      throw invalid(
        `Multi-column relations can only be applied to clustering columns but was applied to: ${name}`,
      );
    if (columns.includes(column))
      throw invalid(`Column "${name}" appeared twice in a relation: ${relationText(relation)}`);
    const before = columns.at(-1);
    if (before !== undefined && column.position !== before.position + 1)
      throw invalid(
        `Clustering columns must appear in the PRIMARY KEY order in multi-column relations: ${relationText(relation)}`,
      );
    columns.push(column);
  }
  return columns;
}
