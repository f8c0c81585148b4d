/** Lists, sets, maps, tuples and values of types of clients, written in a statement. */
import { type Bytes, bytesToLatin1 } from '../../../../base/index.ts';
import type { Term } from '../../cql/ast.ts';
import { invalid } from '../../errors.ts';
import { type CqlType, hasDuration, typeText } from '../../types/cql-type.ts';
import { compareTyped } from '../../types/ordered.ts';
import { collectionBytes, tupleBytes } from '../../types/values.ts';
import { type BoundValue, UNSET } from '../../wire/body-reader.ts';
import { compileTerm } from './compile.ts';
import type { Target, TermContext, TermValue } from './context.ts';
import { termText } from './term-text.ts';
import { fitOf } from './term-types.ts';

type Literal = Extract<Term, { kind: 'list' | 'set' | 'map' | 'tuple' | 'user' }>;

export function compileLiteral(term: Literal, target: Target, context: TermContext): TermValue {
  const { type } = target;
  if (term.kind === 'tuple' && type.kind !== 'tuple') return parenthesized(term, target, context);
  if (type.kind === 'list' && term.kind === 'list')
    return collected(parts(term.elements, type.element, 'list', target, context), joined);
  if (type.kind === 'set' && term.kind === 'set') {
    if (hasDuration(type.element))
      throw invalid(`Durations are not allowed inside sets: ${typeText(type)}`);
    return collected(parts(term.elements, type.element, 'set', target, context), (elements) =>
      setBytes(type.element, elements),
    );
  }
  if (type.kind === 'map' && isMapTerm(term)) return mapLiteral(term, type, target, context);
  if (type.kind === 'tuple' && term.kind === 'tuple')
    return tupleLiteral(term, type, target, context);
  if (type.kind === 'user' && term.kind === 'user') return userLiteral(term, type, target, context);
  const what =
    term.kind === 'user' ? 'user type' : term.kind === 'tuple' ? 'tuple type' : term.kind;
  throw invalid(`Invalid ${what} literal for ${target.name} of type ${typeText(type)}`);
}

function isMapTerm(term: Literal): term is Extract<Term, { kind: 'map' | 'set' }> {
  return term.kind === 'map' || (term.kind === 'set' && term.elements.length === 0);
}

/** One term in parentheses is that term, unless a tuple is wanted. */
function parenthesized(
  { elements }: Extract<Term, { kind: 'tuple' | 'list' }>,
  target: Target,
  context: TermContext,
): TermValue {
  const [only] = elements;
  if (elements.length !== 1 || only === undefined)
    throw invalid(`Invalid tuple type literal for ${target.name} of type ${typeText(target.type)}`);
  return compileTerm(only, target, context);
}

function parts(
  terms: readonly Term[],
  type: CqlType,
  kind: 'list' | 'set',
  { name }: Target,
  context: TermContext,
): readonly TermValue[] {
  return terms.map((term) => {
    if (fitOf(term, type, context) === 'none')
      throw invalid(
        `Invalid ${kind} literal for ${name}: value ${termText(term)} is not of type ${typeText(type)}`,
      );
    return compileTerm(term, { name: `value(${name})`, type }, context);
  });
}

function collected(
  elements: readonly TermValue[],
  join: (elements: readonly Bytes[]) => Bytes,
): TermValue {
  return (call, row) => {
    const values: Bytes[] = [];
    for (const element of elements) {
      const value = element(call, row);
      if (value === UNSET) return UNSET;
      values.push(present(value));
    }
    return join(values);
  };
}

function joined(elements: readonly Bytes[]): Bytes {
  return collectionBytes(elements.length, elements);
}

function mapLiteral(
  term: Extract<Term, { kind: 'map' | 'set' }>,
  type: Extract<CqlType, { kind: 'map' }>,
  target: Target,
  context: TermContext,
): TermValue {
  const { name } = target;
  const entries = term.kind === 'map' ? term.entries : [];
  const compiled = entries.map(([key, value]) => {
    if (fitOf(key, type.key, context) === 'none')
      throw invalid(
        `Invalid map literal for ${name}: key ${termText(key)} is not of type ${typeText(type.key)}`,
      );
    if (fitOf(value, type.value, context) === 'none')
      throw invalid(
        `Invalid map literal for ${name}: value ${termText(value)} is not of type ${typeText(type.value)}`,
      );
    return [
      compileTerm(key, { name: `key(${name})`, type: type.key }, context),
      compileTerm(value, { name: `value(${name})`, type: type.value }, context),
    ] as const;
  });
  return (call, row) => {
    const values: (readonly [Bytes, Bytes])[] = [];
    for (const [key, value] of compiled) {
      const keyBytes = key(call, row);
      if (keyBytes === UNSET) throw invalid('unset value is not supported for map keys');
      const bytes = value(call, row);
      if (bytes === UNSET) return UNSET;
      values.push([present(keyBytes), present(bytes)]);
    }
    return mapBytes(type.key, values);
  };
}

function tupleLiteral(
  { elements }: Extract<Term, { kind: 'tuple' | 'list' }>,
  type: Extract<CqlType, { kind: 'tuple' }>,
  { name }: Target,
  context: TermContext,
): TermValue {
  if (elements.length > type.elements.length)
    throw invalid(
      `Invalid tuple literal for ${name}: too many elements. Type ${typeText(type)} expects ${type.elements.length} but got ${elements.length}`,
    );
  const compiled = elements.map((element, at) => {
    const of = type.elements[at] as CqlType;
    if (fitOf(element, of, context) === 'none')
      throw invalid(
        `Invalid tuple literal for ${name}: component ${at} is not of type ${typeText(of)}`,
      );
    return compileTerm(element, { name: `${name}[${at}]`, type: of }, context);
  });
  return (call, row) =>
    tupleBytes(
      compiled.map((part, at) => {
        const value = part(call, row);
        if (value === UNSET) throw invalid(`Invalid unset value for tuple field number ${at}`);
        return value ?? undefined;
      }),
    );
}

function userLiteral(
  { fields }: Extract<Term, { kind: 'user' }>,
  type: Extract<CqlType, { kind: 'user' }>,
  { name }: Target,
  context: TermContext,
): TermValue {
  const given = new Map(fields);
  for (const field of given.keys())
    if (!type.fields.some((known) => known.name === field))
      throw invalid(`Unknown field '${field}' in value of user defined type ${type.name}`);
  const compiled = type.fields.map((field) => {
    const value = given.get(field.name);
    if (value === undefined) return undefined;
    if (fitOf(value, field.type, context) === 'none')
      throw invalid(
        `Invalid user type literal for ${name}: field ${field.name} is not of type ${typeText(field.type)}`,
      );
    return compileTerm(value, { name: `${name}.${field.name}`, type: field.type }, context);
  });
  return (call, row) =>
    tupleBytes(
      compiled.map((part, at) => {
        const value = part === undefined ? null : part(call, row);
        if (value === UNSET)
          throw invalid(
            `Invalid unset value for field '${type.fields[at]?.name}' of user defined type ${type.name}`,
          );
        return value ?? undefined;
      }),
    );
}

/** Sets and maps are sorted, and have each element once. */
function setBytes(type: CqlType, elements: readonly Bytes[]): Bytes {
  const unique = new Map(elements.map((element) => [bytesToLatin1(element), element]));
  return joined([...unique.values()].sort((a, b) => compareTyped(type, a, b)));
}

export function mapBytes(type: CqlType, entries: readonly (readonly [Bytes, Bytes])[]): Bytes {
  const unique = new Map(entries.map((entry) => [bytesToLatin1(entry[0]), entry]));
  const sorted = [...unique.values()].sort(([a], [b]) => compareTyped(type, a, b));
  return collectionBytes(sorted.length, sorted.flat());
}

function present(value: BoundValue): Bytes {
  if (value === null || value === UNSET) throw invalid('null is not supported inside collections');
  return value;
}
