/** Constants and bind markers to bytes of the type of their place. */
import type { Bytes } from '../../../../base/index.ts';
import type { BindMarker, Term } from '../../cql/ast.ts';
import { CqlError, invalid } from '../../errors.ts';
import { type CqlType, partsOfType, typeText } from '../../types/cql-type.ts';
import { NATIVE_VALUES } from '../../types/native-values.ts';
import { sortedValue } from '../../types/sorted-value.ts';
import { checkValue, tupleBytes } from '../../types/values.ts';
import { UNSET } from '../../wire/body-reader.ts';
import type { Target, TermContext, TermValue } from './context.ts';
import { fitOf } from './term-types.ts';

export function compileBound(
  marker: BindMarker,
  target: Target,
  { scope, schema }: TermContext,
): TermValue {
  scope.bind(marker, target, schema);
  const { index } = marker;
  const { type } = target;
  const hasSorted = [...partsOfType(type)].some(({ kind }) => kind === 'set' || kind === 'map');
  return ({ values }) => {
    const value = values[index] ?? null;
    if (value === null || value === UNSET) return value;
    checkBound(target, value);
    return hasSorted ? sortedValue(type, value) : value;
  };
}

function checkBound({ type }: Target, value: Bytes): void {
  try {
    checkValue(type, value);
  } catch (error) {
    if (!(error instanceof CqlError)) throw error;
    throw invalid(error.message);
  }
}

export function compileConstant(
  term: Extract<Term, { kind: 'constant' }>,
  target: Target,
  context: TermContext,
): TermValue {
  const { constant, text } = term;
  const { name, type } = target;
  if (type.kind === 'tuple' && constant === 'string') {
    const tuple = tupleFromText(type, text);
    return () => tuple;
  }
  if (type.kind !== 'native' || fitOf(term, type, context) === 'none')
    throw invalid(
      `Invalid ${constant === 'blob' ? 'HEX' : constant.toUpperCase()} constant (${text.slice(0, 1000)}) for "${name}" of type ${typeText(type)}`,
    );
  const { parse, check } = NATIVE_VALUES[type.name];
  const bytes = parse(text);
  check?.(bytes);
  return () => bytes;
}

/** Fields with colons between; `@` is null, and a backslash takes the meaning of what follows it. */
function tupleFromText(type: Extract<CqlType, { kind: 'tuple' }>, text: string): Bytes {
  const fields = text.split(/(?<!\\):/);
  if (fields.length > type.elements.length)
    throw invalid(
      `Invalid tuple literal: too many elements. Type ${typeText(type)} expects ${type.elements.length} but got ${fields.length}`,
    );
  return tupleBytes(
    fields.map((field, at) => {
      const element = type.elements[at] as CqlType;
      if (field === '@') return undefined;
      const plain = field.replaceAll('\\:', ':').replaceAll('\\@', '@');
      if (element.kind === 'tuple') return tupleFromText(element, plain);
      if (element.kind !== 'native')
        throw invalid(`Unable to parse a value of type ${typeText(element)} from '${plain}'`);
      return NATIVE_VALUES[element.name].parse(plain);
    }),
  );
}
