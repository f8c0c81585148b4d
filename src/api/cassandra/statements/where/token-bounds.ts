/** Relations on token(): a part of the ring. */
import type { Comparison, Relation } from '../../cql/ast.ts';
import { invalid } from '../../errors.ts';
import type { TableSchema } from '../../schema/table-schema.ts';
import { native } from '../../types/cql-type.ts';
import { int64Of } from '../../types/native-values.ts';
import { compileTerm } from '../expressions/compile.ts';
import type { TermContext } from '../expressions/context.ts';
import { termText } from '../expressions/term-text.ts';
import type { Call } from '../plan.ts';
import { columnNamed } from '../scope.ts';

export interface TokenBound {
  readonly operator: Comparison;
  token(call: Call): bigint;
}

export function tokenBound(
  { columns, operator, term }: Extract<Relation, { kind: 'token' }>,
  schema: TableSchema,
  context: TermContext,
): TokenBound {
  checkColumns(columns, schema);
  if (operator === '!=')
    throw invalid(`Unsupported "!=" relation: token(${columns.join(', ')}) != ${termText(term)}`);
  const target = { name: 'partition key token', type: native('bigint') };
  const value = compileTerm(term, target, context);
  return {
    operator,
    token(call) {
      const bytes = value(call);
      if (!(bytes instanceof Uint8Array))
        throw invalid(bytes === null ? 'Invalid null token value' : 'Invalid unset token value');
      return int64Of(bytes);
    },
  };
}

function checkColumns(columns: readonly string[], schema: TableSchema): void {
  const names = schema.partitionKey.map(({ name }) => name);
  for (const name of columns) columnNamed(schema, name);
  if (columns.length === names.length && columns.every((name, at) => name === names[at])) return;
  if (!names.every((name) => columns.includes(name)))
    throw invalid(
      'The token() function must be applied to all partition key components or none of them',
    );
  if (new Set(columns).size < columns.length)
    throw invalid('The token() function contains duplicate partition key components');
  if (columns.some((name) => !names.includes(name)))
    throw invalid('The token() function must contains only partition key components');
  throw invalid(
    `The token function arguments must be in the partition key order: ${names.join(', ')}`,
  );
}

export function mergeTokens(
  bounds: readonly TokenBound[],
  added: TokenBound,
  { partitionKey }: TableSchema,
): readonly TokenBound[] {
  const names = partitionKey.map(({ name }) => name).join(', ');
  if (bounds.some(({ operator }) => operator === '='))
    throw invalid(
      `${names} cannot be restricted by more than one relation if it includes an Equal`,
    );
  if (bounds.length > 0 && added.operator === '=')
    throw invalid(
      `Columns "${names}" cannot be restricted by both an equality and an inequality relation`,
    );
  const isLower = ({ operator }: TokenBound): boolean => operator.startsWith('>');
  if (bounds.some((bound) => isLower(bound) === isLower(added)))
    throw invalid(
      `More than one restriction was found for the ${isLower(added) ? 'start' : 'end'} bound on ${names}`,
    );
  return [...bounds, added];
}
