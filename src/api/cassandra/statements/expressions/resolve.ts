/** Which function a call means: among those of its name, the one whose arguments fit. */
import { type Bytes, EMPTY_BYTES } from '../../../../base/index.ts';
import type { CallTerm, Term } from '../../cql/ast.ts';
import { invalid } from '../../errors.ts';
import { type CqlType, native, typeText } from '../../types/cql-type.ts';
import { int64Bytes } from '../../types/native-values.ts';
import { tokenOf } from '../../types/token.ts';
import { countState } from './aggregates.ts';
import type { FunctionCandidate } from './candidate.ts';
import type { TermContext } from './context.ts';
import { functionCandidates } from './functions.ts';
import { jsonFunction } from './json-functions.ts';
import { termText } from './term-text.ts';
import { type Fit, fitOf, fitOfType, typeOfTerm } from './term-types.ts';

/** @param wanted - the type of the place; undefined in a selection. */
export function resolveCall(
  call: CallTerm,
  wanted: CqlType | undefined,
  context: TermContext,
): FunctionCandidate {
  const candidates = special(call, wanted, context) ?? [
    ...functionCandidates(context.scope, call.keyspace, call.name),
  ];
  const [only] = candidates;
  const name = `${only?.keyspace ?? 'system'}.${call.name}`;
  if (only === undefined) throw invalid(`Unknown function '${call.name}'`);
  if (candidates.length === 1) {
    checkArguments(only, name, call.arguments, context);
    return only;
  }
  const compatible = candidates.filter(({ result }) =>
    wanted === undefined ? true : fitOfType(result, wanted) !== 'none',
  );
  const fitting = bestFits(compatible, call.arguments, context);
  const [best, second] = fitting;
  if (best === undefined)
    throw invalid(
      `Invalid call to function ${name}, none of its type signatures match (known type signatures: ${signatures(candidates)})`,
    );
  if (second !== undefined)
    throw invalid(
      `Ambiguous call to function ${name} (can be matched by following signatures: ${signatures(fitting)}): use type casts to disambiguate`,
    );
  return best;
}

/** Functions whose types depend on the statement. */
function special(
  { name, keyspace, arguments: given }: CallTerm,
  wanted: CqlType | undefined,
  context: TermContext,
): readonly FunctionCandidate[] | undefined {
  if (keyspace !== undefined && keyspace !== 'system') return undefined;
  switch (name) {
    case 'token':
      return [tokenFunction(context)];
    case 'tojson':
    case 'fromjson':
      return [jsonFunction(name, given, wanted, context)];
    case 'count': {
      const type = given[0] === undefined ? undefined : typeOfTerm(given[0], context);
      return [
        {
          keyspace: 'system',
          name,
          arguments: [type ?? native('int')],
          result: native('bigint'),
          aggregate: countState,
        },
      ];
    }
    default:
      return undefined;
  }
}

function tokenFunction({ schema }: TermContext): FunctionCandidate {
  return {
    keyspace: 'system',
    name: 'token',
    arguments: schema?.partitionKey.map(({ type }) => type) ?? [],
    result: native('bigint'),
    run: (values) => int64Bytes(tokenOf(values.map((value): Bytes => value ?? EMPTY_BYTES))),
  };
}

function checkArguments(
  candidate: FunctionCandidate,
  name: string,
  given: readonly Term[],
  context: TermContext,
): void {
  const { arguments: types } = candidate;
  if (types.length !== given.length)
    throw invalid(
      `Invalid number of arguments in call to function ${name}: ${types.length} required but ${given.length} provided`,
    );
  given.forEach((term, at) => {
    const type = types[at] as CqlType;
    if (fitOf(term, type, context) === 'none')
      throw invalid(
        `Type error: ${termText(term)} cannot be passed as argument ${at} of function ${name} of type ${typeText(type)}`,
      );
  });
}

function bestFits(
  candidates: readonly FunctionCandidate[],
  given: readonly Term[],
  context: TermContext,
): readonly FunctionCandidate[] {
  const weak: FunctionCandidate[] = [];
  // The same argument is compared with many candidates of few types.
  const known = new Map<string, Fit>();
  const fitAt = (at: number, type: CqlType): Fit => {
    const key = `${at} ${typeText(type)}`;
    const before = known.get(key);
    if (before !== undefined) return before;
    const found = fitOf(given[at] as Term, type, context);
    known.set(key, found);
    return found;
  };
  for (const candidate of candidates) {
    if (candidate.arguments.length !== given.length) continue;
    const fits = candidate.arguments.map((type, at) => fitAt(at, type));
    if (fits.includes('none')) continue;
    if (!fits.includes('weak')) return [candidate];
    weak.push(candidate);
  }
  return weak;
}

function signatures(candidates: readonly FunctionCandidate[]): string {
  return candidates
    .map(
      ({ keyspace, name, arguments: types, result }) =>
        `${keyspace}.${name} : (${types.map(typeText).join(', ')}) -> ${typeText(result)}`,
    )
    .join(', ');
}

export function resolveOperation(
  { operator, left, right }: Extract<Term, { kind: 'operation' }>,
  candidates: readonly FunctionCandidate[],
  wanted: CqlType | undefined,
  context: TermContext,
): FunctionCandidate {
  const compatible = candidates.filter(
    ({ result }) => wanted === undefined || fitOfType(result, wanted) !== 'none',
  );
  const fitting = bestFits(compatible, [left, right], context);
  const [best, second] = fitting;
  if (best === undefined)
    throw invalid(
      `the '${operator}' operation is not supported between ${termText(left)} and ${termText(right)}`,
    );
  if (second === undefined) return best;
  const hasMarkers = left.kind === 'bind' || right.kind === 'bind';
  const same =
    wanted === undefined || hasMarkers
      ? undefined
      : fitting.find(({ arguments: types }) =>
          types.every((type) => fitOfType(type, wanted) === 'exact'),
        );
  if (same === undefined)
    throw invalid(
      `Ambiguous '${operator}' operation with args ${termText(left)} and ${termText(right)}: use type hint to disambiguate, example '(int) ?'`,
    );
  return same;
}
