/** The plan of a SELECT on the change feed of a table. */
import { type Bytes, bytesToText, textToBytes } from '../../../base/index.ts';
import {
  type ChangeFeedStart,
  parseChangePosition,
  printChangePosition,
} from '../../../service/index.ts';
import { decodeRow } from '../cells/row-codec.ts';
import type { Relation, SelectStatement } from '../cql/ast.ts';
import { CHANGE_FEED_START } from '../cql/where-parser.ts';
import { invalid } from '../errors.ts';
import { PAGE_BYTES_MAX, PAGE_ROWS_MAX } from '../limits.ts';
import type { Table } from '../schema/keyspaces.ts';
import { addressValues } from '../schema/table-keys.ts';
import { compileTerm } from '../statements/expressions/compile.ts';
import type { TermContext, TermValue } from '../statements/expressions/context.ts';
import type { Call, Cells, Plan, Result } from '../statements/plan.ts';
import type { Scope } from '../statements/scope.ts';
import { foundRow } from '../statements/select/found-row.ts';
import { isHeader } from '../statements/select/row-source.ts';
import { Selection } from '../statements/select/selection.ts';
import { partitionsOf } from '../statements/where/key-selection.ts';
import { compileWhere, type Restrictions } from '../statements/where/restrictions.ts';
import { native } from '../types/cql-type.ts';
import { int64Of } from '../types/native-values.ts';

/** Rows of a page where the client asks for none. */
const PAGE_ROWS = 1000;

export function changeFeedPlan(
  statement: SelectStatement,
  table: Table,
  scope: Scope,
  markers: number,
): Plan {
  const { schema } = table;
  const context: TermContext = { scope, schema };
  const selection = new Selection(statement.selectors, schema, context, statement.isJson);
  if (selection.isAggregate) throw invalid('Aggregates of a change feed are not supported');
  const isStart = (relation: Relation): boolean =>
    'column' in relation && relation.column === CHANGE_FEED_START;
  const [start] = statement.where.filter(isStart);
  const since = sinceTerm(start, context);
  const keyed = statement.where.filter((relation) => !isStart(relation));
  const restrictions =
    keyed.length === 0
      ? undefined
      : compileWhere(keyed, schema, context, {
          statement: 'SELECT',
          allowsFiltering: false,
          isStaticOnly: false,
        });
  if (restrictions !== undefined && restrictions.partition.length === 0)
    throw invalid('A change feed is of a whole table or of one partition key');
  const { keyspaces } = scope.environment;
  return {
    operation: 'changeFeed',
    variables: scope.variables(markers),
    keyIndexes: scope.keyIndexes(schema),
    columns: selection.columns,
    isCurrent: () => keyspaces.table(schema.keyspace, schema.name).schema === schema,
    run: (call) =>
      read(keyspaces.table(schema.keyspace, schema.name), { selection, since, restrictions }, call),
  };
}

function sinceTerm(start: Relation | undefined, context: TermContext): TermValue {
  if (start?.kind !== 'column') throw invalid('A change feed begins at a time');
  return compileTerm(start.term, { name: CHANGE_FEED_START, type: native('timestamp') }, context);
}

interface Feed {
  readonly selection: Selection;
  readonly since: TermValue;
  readonly restrictions: Restrictions | undefined;
}

async function read(
  table: Table,
  { selection, since, restrictions }: Feed,
  call: Call,
): Promise<Result> {
  const { schema, container } = table;
  const [key, ...others] =
    restrictions === undefined ? [undefined] : partitionsOf(restrictions, schema, call);
  if (others.length > 0) throw invalid('A change feed is of a whole table or of one partition key');
  const page = await call.environment.service.changeFeed.read(container, {
    scope:
      key === undefined
        ? { kind: 'container' }
        : { kind: 'partitionKey', values: addressValues(schema.partitionKey, key) },
    mode: 'latest',
    start: startOf(since, call),
    limit: Math.min(call.pageSize ?? PAGE_ROWS, PAGE_ROWS_MAX),
    bytesMax: PAGE_BYTES_MAX,
  });
  call.spend(page.charge);
  const rows: Cells[] = [];
  for (const change of page.changes) {
    if (change.kind !== 'write') continue;
    const row = decodeRow(change.item.body);
    const found = isHeader(row, schema) ? undefined : foundRow(row, undefined, schema, call.nowSec);
    if (found !== undefined) rows.push(selection.rowOf(found, call));
  }
  return {
    kind: 'rows',
    columns: selection.columns,
    rows,
    pagingState: textToBytes(printChangePosition(page.position)),
  };
}

function startOf(since: TermValue, call: Call): ChangeFeedStart {
  if (call.pagingState !== undefined)
    return { kind: 'position', position: parseChangePosition(bytesToText(call.pagingState)) };
  const value = since(call);
  if (!(value instanceof Uint8Array)) throw invalid('A change feed begins at a time');
  const milliseconds = Number(int64Of(value as Bytes));
  return milliseconds <= 0
    ? { kind: 'beginning' }
    : { kind: 'time', sinceSec: Math.floor(milliseconds / 1000) };
}
