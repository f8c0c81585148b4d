/** The type that a term has of itself, and how well it fits another one. */
import type { ConstantKind, Term } from '../../cql/ast.ts';
import { CqlError, invalid, syntaxError } from '../../errors.ts';
import {
  type CqlType,
  frozen,
  isNative,
  isSameType,
  type NativeName,
  native,
  typeText,
} from '../../types/cql-type.ts';
import { parseDecimal } from '../../types/number-bytes.ts';
import { parseType } from '../../types/parse-type.ts';
import { cellFunctionType, isCellFunction } from './cell-functions.ts';
import { type TermContext, typesOf } from './context.ts';
import { NEGATIONS, operatorCandidates } from './operators.ts';
import { resolveCall, resolveOperation } from './resolve.ts';
import { termText } from './term-text.ts';

export type Fit = 'exact' | 'weak' | 'none';

/** Undefined where only its place can say: constants, markers, collections of such. */
export function typeOfTerm(term: Term, context: TermContext): CqlType | undefined {
  switch (term.kind) {
    case 'constant':
    case 'null':
    case 'bind':
    case 'user':
      return undefined;
    case 'hint':
    case 'castAs':
      return hintedType(term.type, context);
    case 'call':
      return isCellFunction(term)
        ? cellFunctionType(term)
        : resolveCall(term, undefined, context).result;
    case 'countAll':
      return native('bigint');
    case 'operation':
      return resolveOperation(term, operatorCandidates(term.operator), undefined, context).result;
    case 'negation': {
      const inner = typeOfTerm(term.term, context);
      if (inner !== undefined && !NEGATIONS.some((one) => isSameType(one.result, inner)))
        throw invalid(`the '-' operation is not supported on ${termText(term.term)}`);
      return inner;
    }
    case 'column':
      return columnType(term.name, context);
    case 'field':
      return fieldOf(term, context).type;
    case 'element':
      return elementType(term, context);
    case 'slice':
      return typeOfTerm(term.of, context);
    default:
      return literalType(term, context);
  }
}

export function hintedType(text: string, context: TermContext): CqlType {
  return frozen(parseType(text, typesOf(context)));
}

export function columnType(name: string, { schema, slots }: TermContext): CqlType {
  if (slots === undefined || schema === undefined)
    throw syntaxError(`no viable alternative at input '${name}'`);
  const column = schema.column(name);
  if (column === undefined)
    throw invalid(`Undefined column name ${name} in table ${schema.keyspace}.${schema.name}`);
  return column.type;
}

export function fieldOf(
  { of, field }: Extract<Term, { kind: 'field' }>,
  context: TermContext,
): { readonly at: number; readonly type: CqlType } {
  const type = typeOfTerm(of, context);
  if (type === undefined || type.kind !== 'user')
    throw invalid(
      `Invalid field selection: ${termText(of)} of type ${type === undefined ? 'unknown' : typeText(type)} is not a user type`,
    );
  const at = type.fields.findIndex(({ name }) => name === field);
  const found = type.fields[at];
  if (found === undefined)
    throw invalid(`${termText(of)} of type ${typeText(type)} has no field ${field}`);
  return { at, type: found.type };
}

/** The collection that an element or a slice is selected of. */
export function selectedCollection(
  { of, kind }: Extract<Term, { kind: 'element' | 'slice' }>,
  context: TermContext,
): Extract<CqlType, { kind: 'set' | 'map' }> {
  const type = typeOfTerm(of, context);
  const what = kind === 'element' ? 'Element' : 'Slice';
  if (type?.kind === 'list')
    throw invalid(
      `${what} selection is only allowed on sets and maps, but ${termText(of)} is a list`,
    );
  if (type === undefined || (type.kind !== 'set' && type.kind !== 'map'))
    throw invalid(
      `Invalid ${what.toLowerCase()} selection: ${termText(of)} ${kind === 'element' ? 'is ' : ''}of type ${type === undefined ? 'unknown' : typeText(type)} is not a collection`,
    );
  return type;
}

function elementType(term: Extract<Term, { kind: 'element' }>, context: TermContext): CqlType {
  const type = selectedCollection(term, context);
  return type.kind === 'map' ? type.value : type.element;
}

type Literal = Extract<Term, { kind: 'list' | 'set' | 'map' | 'tuple' }>;

function literalType(term: Literal, context: TermContext): CqlType | undefined {
  if (term.kind === 'map') {
    const key = commonType(
      term.entries.map(([one]) => one),
      context,
    );
    const value = commonType(
      term.entries.map(([, one]) => one),
      context,
    );
    return key && value && { kind: 'map', key, value, isFrozen: true };
  }
  if (term.kind === 'tuple') {
    const [only] = term.elements;
    if (term.elements.length === 1 && only !== undefined) return typeOfTerm(only, context);
    const elements = term.elements.map((element) => typeOfTerm(element, context));
    return elements.every((type) => type !== undefined) ? { kind: 'tuple', elements } : undefined;
  }
  const element = commonType(term.elements, context);
  return element && { kind: term.kind, element, isFrozen: true };
}

function commonType(terms: readonly Term[], context: TermContext): CqlType | undefined {
  for (const term of terms) {
    const type = typeOfTerm(term, context);
    if (type !== undefined) return frozen(type);
  }
  return undefined;
}

/** How well the term fits a place of this type. */
export function fitOf(term: Term, type: CqlType, context: TermContext): Fit {
  switch (term.kind) {
    case 'null':
    case 'bind':
      return 'weak';
    case 'constant':
      return constantFit(term, type);
    case 'list':
      return type.kind === 'list' ? fitOfAll(term.elements, type.element, context) : 'none';
    case 'set':
      if (type.kind === 'map' && term.elements.length === 0) return 'weak';
      return type.kind === 'set' ? fitOfAll(term.elements, type.element, context) : 'none';
    case 'map':
      if (type.kind !== 'map') return 'none';
      return worst([
        fitOfAll(
          term.entries.map(([key]) => key),
          type.key,
          context,
        ),
        fitOfAll(
          term.entries.map(([, value]) => value),
          type.value,
          context,
        ),
      ]);
    case 'user':
      return type.kind === 'user' ? fieldsFit(term, type, context) : 'none';
    case 'tuple':
      return tupleFit(term, type, context);
    case 'call':
    case 'operation':
    case 'negation':
      return knownFit(term, type, context);
    default: {
      const own = typeOfTerm(term, context);
      return own === undefined ? 'weak' : fitOfType(own, type);
    }
  }
}

/**
 * How well computed terms fit a type, once found: each type that is tried for a term tries several for its arguments, so
 * that finding it again would take longer by a factor for every term inside another.
 */
const knownFits = new WeakMap<TermContext, WeakMap<Term, Map<string, Fit>>>();

function knownFit(term: Term, type: CqlType, context: TermContext): Fit {
  const ofTerms = knownFits.getOrInsertComputed(context, () => new WeakMap());
  const ofTypes = ofTerms.getOrInsertComputed(term, () => new Map());
  return ofTypes.getOrInsertComputed(typeText(type), () => computedFit(term, type, context));
}

function computedFit(term: Term, type: CqlType, context: TermContext): Fit {
  try {
    if (term.kind === 'negation') return fitOf(term.term, type, context);
    if (term.kind === 'call' && isCellFunction(term))
      return fitOfType(cellFunctionType(term), type);
    const { result } =
      term.kind === 'call'
        ? resolveCall(term, type, context)
        : resolveOperation(
            term as Extract<Term, { kind: 'operation' }>,
            operatorCandidates((term as Extract<Term, { kind: 'operation' }>).operator),
            type,
            context,
          );
    return fitOfType(result, type);
  } catch (error) {
    // What is wrong with it is said where it is compiled.
    if (error instanceof CqlError) return 'weak';
    throw error;
  }
}

function fieldsFit(
  { fields }: Extract<Term, { kind: 'user' }>,
  type: Extract<CqlType, { kind: 'user' }>,
  context: TermContext,
): Fit {
  return worst(
    fields.map(([name, value]) => {
      const field = type.fields.find((one) => one.name === name);
      return field === undefined ? 'none' : fitOf(value, field.type, context);
    }),
  ) === 'none'
    ? 'none'
    : 'weak';
}

function tupleFit(
  { elements }: Extract<Term, { kind: 'tuple' }>,
  type: CqlType,
  context: TermContext,
): Fit {
  const [only] = elements;
  if (type.kind !== 'tuple')
    return elements.length === 1 && only !== undefined ? fitOf(only, type, context) : 'none';
  if (elements.length > type.elements.length) return 'none';
  return worst(
    elements.map((element, at) => fitOf(element, type.elements[at] as CqlType, context)),
  ) === 'none'
    ? 'none'
    : 'weak';
}

function fitOfAll(terms: readonly Term[], type: CqlType, context: TermContext): Fit {
  if (terms.length === 0) return 'weak';
  return worst(terms.map((term) => fitOf(term, type, context)));
}

function worst(fits: readonly Fit[]): Fit {
  return fits.includes('none') ? 'none' : fits.includes('weak') ? 'weak' : 'exact';
}

/** Values of these types are values of the others as well. */
const READABLE: Readonly<Record<string, readonly string[]>> = {
  text: ['ascii'],
  uuid: ['timeuuid'],
  bigint: ['timestamp'],
  timestamp: ['bigint'],
  varint: ['int', 'bigint', 'timestamp'],
};

export function fitOfType(from: CqlType, to: CqlType): Fit {
  if (isSameType(from, to)) return 'exact';
  if (isNative(to, 'blob')) return 'weak';
  if (from.kind === 'native' && to.kind === 'native')
    return READABLE[to.name]?.includes(from.name) === true ? 'weak' : 'none';
  return 'none';
}

/** Kinds of constants that each native type takes. */
const TAKES: Readonly<Record<ConstantKind, readonly string[]>> = {
  string: ['ascii', 'text', 'inet', 'date', 'time', 'timestamp'],
  integer: [
    'bigint',
    'counter',
    'date',
    'decimal',
    'double',
    'duration',
    'float',
    'int',
    'smallint',
    'time',
    'timestamp',
    'tinyint',
    'varint',
  ],
  float: ['decimal', 'double', 'float'],
  boolean: ['boolean'],
  uuid: ['uuid', 'timeuuid'],
  blob: ['blob'],
  duration: ['duration'],
};

function constantFit({ constant, text }: Extract<Term, { kind: 'constant' }>, type: CqlType): Fit {
  if (type.kind === 'tuple') return 'weak';
  if (type.kind !== 'native') return 'none';
  if (type.name === preferredType(constant, text)) return 'exact';
  return TAKES[constant].includes(type.name) ? 'weak' : 'none';
}

/** The smallest type that holds the number. */
export function preferredType(constant: ConstantKind, text: string): NativeName | undefined {
  if (constant === 'integer') {
    const value = BigInt(text);
    if (BigInt.asIntN(32, value) === value) return 'int';
    return BigInt.asIntN(64, value) === value ? 'bigint' : 'varint';
  }
  if (constant !== 'float') return undefined;
  if (/nan|infinity/i.test(text)) return 'double';
  const { unscaled, scale } = parseDecimal(text);
  const shortest = parseDecimal(String(Number(text)));
  const isExact =
    unscaled * 10n ** BigInt(Math.max(0, shortest.scale - scale)) ===
    shortest.unscaled * 10n ** BigInt(Math.max(0, scale - shortest.scale));
  return isExact ? 'double' : 'decimal';
}
