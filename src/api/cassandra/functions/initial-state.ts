/** INITCOND: the state with which an aggregate begins. */
import type { Term } from '../cql/ast.ts';
import { invalid } from '../errors.ts';
import { literalText } from '../schema/literal-text.ts';
import { compileTerm } from '../statements/expressions/compile.ts';
import type { Call } from '../statements/plan.ts';
import type { Scope } from '../statements/scope.ts';
import { type CqlType, typeText } from '../types/cql-type.ts';
import type { UserAggregate } from './user-functions.ts';

export function initialOf(
  term: Term | undefined,
  type: CqlType,
  scope: Scope,
  call: Call,
): UserAggregate['initial'] {
  if (term === undefined || term.kind === 'null') return undefined;
  if (term.kind === 'bind')
    throw invalid('Invalid term for INITCOND: bind variables are not allowed');
  const value = compileTerm(term, { name: 'initcond', type }, { scope, schema: undefined })(call);
  if (!(value instanceof Uint8Array))
    throw invalid(`Invalid value for INITCOND of type ${typeText(type)}`);
  return { text: literalText(type, value), hex: Buffer.from(value).toString('hex') };
}
