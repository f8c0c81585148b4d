/** toJson and fromJson: any type, known from the argument or from the place of the call. */
import { bytesToText, textToBytes } from '../../../../base/index.ts';
import type { Term } from '../../cql/ast.ts';
import { CqlError, invalid } from '../../errors.ts';
import { type CqlType, native } from '../../types/cql-type.ts';
import { parseJson, valueJson } from '../../types/json-text.ts';
import { jsonBytes } from '../../types/json-values.ts';
import type { FunctionCandidate } from './candidate.ts';
import type { TermContext } from './context.ts';
import { typeOfTerm } from './term-types.ts';

export function jsonFunction(
  name: 'tojson' | 'fromjson',
  given: readonly Term[],
  wanted: CqlType | undefined,
  context: TermContext,
): FunctionCandidate {
  return name === 'tojson' ? toJson(given, context) : fromJson(wanted, context);
}

function toJson(given: readonly Term[], context: TermContext): FunctionCandidate {
  if (context.slots === undefined)
    throw invalid('toJson() may only be used within the selection clause of SELECT statements');
  const type = (given[0] && typeOfTerm(given[0], context)) ?? native('text');
  return {
    keyspace: 'system',
    name: 'tojson',
    arguments: [type],
    result: native('text'),
    run: ([value]) =>
      textToBytes(value === null || value === undefined ? 'null' : valueJson(type, value)),
  };
}

function fromJson(wanted: CqlType | undefined, { slots }: TermContext): FunctionCandidate {
  if (wanted === undefined || slots !== undefined)
    throw invalid('fromJson() cannot be used in the selection clause of a SELECT statement');
  return {
    keyspace: 'system',
    name: 'fromjson',
    arguments: [native('text')],
    result: wanted,
    run([text]) {
      if (text === null || text === undefined) return null;
      try {
        const value = parseJson(bytesToText(text));
        return value === null ? null : jsonBytes(wanted, value);
      } catch (error) {
        if (!(error instanceof CqlError)) throw error;
        throw new CqlError(
          'functionFailure',
          `Could not decode JSON string '${bytesToText(text)}': ${error.message}`,
          { kind: 'function', keyspace: 'system', name: 'fromjson', types: ['text'] },
        );
      }
    },
  };
}
