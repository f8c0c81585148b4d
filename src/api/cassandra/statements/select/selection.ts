/** The columns that a SELECT returns: of each row, or of a group of rows. */
import { type Bytes, textToBytes } from '../../../../base/index.ts';
import type { Selector, Term } from '../../cql/ast.ts';
import type { TableSchema } from '../../schema/table-schema.ts';
import { type CqlType, isSameType, native } from '../../types/cql-type.ts';
import { jsonText } from '../../types/json-text.ts';
import { UNSET } from '../../wire/body-reader.ts';
import type { AggregateState } from '../expressions/candidate.ts';
import { compileSelected } from '../expressions/compile.ts';
import type { AggregateSlot, RowAccess, TermContext, TermValue } from '../expressions/context.ts';
import { termText } from '../expressions/term-text.ts';
import { hintedType, typeOfTerm } from '../expressions/term-types.ts';
import type { Call, Cells, ResultColumn } from '../plan.ts';

interface Compiled {
  readonly name: string;
  readonly type: CqlType;
  readonly value: TermValue;
}

export class Selection {
  readonly columns: readonly ResultColumn[];
  readonly isAggregate: boolean;
  /** The names of all columns that it reads. */
  readonly reads: ReadonlySet<string>;
  readonly #compiled: readonly Compiled[];
  readonly #slots: readonly AggregateSlot[];
  readonly #isJson: boolean;

  constructor(
    selectors: 'all' | readonly Selector[],
    schema: TableSchema,
    context: TermContext,
    isJson: boolean,
  ) {
    this.#isJson = isJson;
    const slots: AggregateSlot[] = [];
    const selected = selectors === 'all' ? allColumns(schema) : selectors;
    this.#compiled = selected.map(({ term, alias }) => ({
      ...compileSelected(term, { ...context, slots }),
      name: alias ?? nameOf(term, context),
    }));
    this.#slots = slots;
    this.isAggregate = slots.length > 0;
    this.reads = new Set(selected.flatMap(({ term }) => [...columnsOf(term)]));
    const { keyspace, name: table } = schema;
    this.columns = isJson
      ? [{ keyspace, table, name: '[json]', type: native('text') }]
      : this.#compiled.map(({ name, type }) => ({ keyspace, table, name, type }));
  }

  rowOf(row: RowAccess, call: Call): Cells {
    return this.#finish(
      this.#compiled.map(({ value }) => {
        const bytes = value(call, row);
        return bytes === UNSET ? null : bytes;
      }),
    );
  }

  /** Collects rows into one: aggregates of all, other columns of the first. */
  group(call: Call): RowGroup {
    const states: readonly AggregateState[] = this.#slots.map((slot) => slot.create(call));
    let first: RowAccess = NO_ROW;
    let isEmpty = true;
    return {
      add: (row) => {
        if (isEmpty) first = row;
        isEmpty = false;
        this.#slots.forEach((slot, at) => {
          states[at]?.add(slot.values(call, row));
        });
      },
      row: () =>
        this.rowOf(
          {
            value: (name) => first.value(name),
            timestamp: (name) => first.timestamp(name),
            expiresAtSec: (name) => first.expiresAtSec(name),
            aggregate: (slot) => states[slot]?.result() ?? null,
          },
          call,
        ),
    };
  }

  #finish(cells: Cells): Cells {
    return this.#isJson ? [textToBytes(jsonText(this.#compiled, cells))] : cells;
  }
}

/** A cast to the type that a term has already is not seen. */
function nameOf(term: Term, context: TermContext): string {
  if (term.kind !== 'castAs') return termText(term);
  const own = typeOfTerm(term.term, { ...context, slots: [] });
  const isSame = own !== undefined && isSameType(own, hintedType(term.type, context));
  return isSame ? nameOf(term.term, context) : termText(term);
}

export interface RowGroup {
  add(row: RowAccess): void;
  row(): Cells;
}

const NO_ROW: RowAccess = {
  value: (): Bytes | undefined => undefined,
  timestamp: () => undefined,
  expiresAtSec: () => undefined,
};

function allColumns(schema: TableSchema): readonly Selector[] {
  return schema.columns.map(({ name }) => ({ term: { kind: 'column', name }, alias: undefined }));
}

/** The columns that a term names. */
export function* columnsOf(term: Term): Generator<string> {
  switch (term.kind) {
    case 'column':
      yield term.name;
      return;
    case 'call':
      for (const argument of term.arguments) yield* columnsOf(argument);
      return;
    case 'list':
    case 'set':
    case 'tuple':
      for (const element of term.elements) yield* columnsOf(element);
      return;
    case 'map':
      for (const [key, value] of term.entries) {
        yield* columnsOf(key);
        yield* columnsOf(value);
      }
      return;
    case 'user':
      for (const [, value] of term.fields) yield* columnsOf(value);
      return;
    case 'field':
    case 'element':
    case 'slice':
      yield* columnsOf(term.of);
      return;
    case 'operation':
      yield* columnsOf(term.left);
      yield* columnsOf(term.right);
      return;
    case 'hint':
    case 'castAs':
    case 'negation':
      yield* columnsOf(term.term);
  }
}
