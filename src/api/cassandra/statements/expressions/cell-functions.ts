/** writetime() and ttl(): what is known of a cell besides its value. */
import type { CallTerm } from '../../cql/ast.ts';
import { invalid } from '../../errors.ts';
import type { ColumnSchema } from '../../schema/table-schema.ts';
import { type CqlType, isMultiCell, native } from '../../types/cql-type.ts';
import { int32Bytes, int64Bytes } from '../../types/native-values.ts';
import type { TermContext, TermValue } from './context.ts';
import { columnType } from './term-types.ts';

export function isCellFunction({ name, keyspace }: CallTerm): boolean {
  return keyspace === undefined && (name === 'writetime' || name === 'ttl');
}

export function cellFunctionType({ name }: CallTerm): CqlType {
  return native(name === 'ttl' ? 'int' : 'bigint');
}

export function compileCellFunction(call: CallTerm, context: TermContext): TermValue {
  const { name: column } = cellColumn(call, context);
  if (call.name === 'writetime')
    return (_, row) => {
      const timestamp = row?.timestamp(column);
      return timestamp === undefined ? null : int64Bytes(timestamp);
    };
  return ({ nowSec }, row) => {
    const expiresAtSec = row?.expiresAtSec(column) ?? 0;
    return expiresAtSec === 0 ? null : int32Bytes(expiresAtSec - nowSec);
  };
}

function cellColumn(call: CallTerm, context: TermContext): ColumnSchema {
  const [argument] = call.arguments;
  const label = call.name === 'ttl' ? 'ttl' : 'writeTime';
  if (call.arguments.length !== 1 || argument?.kind !== 'column')
    throw invalid(`The function ${label} takes a column`);
  columnType(argument.name, context);
  const column = context.schema?.column(argument.name) as ColumnSchema;
  if (column.kind === 'partition_key' || column.kind === 'clustering')
    throw invalid(`Cannot use selection function ${label} on PRIMARY KEY part ${column.name}`);
  if (isMultiCell(column.type))
    throw invalid(
      `Cannot use selection function ${label} on non-frozen ${column.type.kind === 'user' ? 'UDT' : 'collection'} ${column.name}`,
    );
  return column;
}
