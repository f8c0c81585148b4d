/** Parts of values in a selection: fields, elements, slices. */
import { type Bytes, equalBytes } from '../../../../base/index.ts';
import type { Term } from '../../cql/ast.ts';
import { invalid } from '../../errors.ts';
import { compareTyped } from '../../types/ordered.ts';
import { collectionBytes, componentsOf, elementsOf, entriesOf } from '../../types/values.ts';
import { type BoundValue, UNSET } from '../../wire/body-reader.ts';
import { compileSelected, compileTerm } from './compile.ts';
import type { TermContext, TermValue } from './context.ts';
import { termText } from './term-text.ts';
import { fieldOf, selectedCollection } from './term-types.ts';

export function compileField(
  term: Extract<Term, { kind: 'field' }>,
  context: TermContext,
): TermValue {
  const { at } = fieldOf(term, context);
  const { type, value } = compileSelected(term.of, context);
  return (call, row) => {
    const bytes = value(call, row);
    if (bytes === null || bytes === UNSET || type.kind !== 'user') return null;
    return componentsOf(type, bytes)[at] ?? null;
  };
}

export function compileElement(
  term: Extract<Term, { kind: 'element' }>,
  context: TermContext,
): TermValue {
  const type = selectedCollection(term, context);
  const { value } = compileSelected(term.of, context);
  const name = termText(term.of);
  const keyType = type.kind === 'map' ? type.key : type.element;
  const label = `${type.kind === 'map' ? 'key' : 'value'}(${name})`;
  const key = compileTerm(term.element, { name: label, type: keyType }, context);
  return (call, row) => {
    const wanted = boundOf(key(call, row), 'element', name);
    if (wanted === null) throw invalid(`Invalid null value for element selection on ${name}`);
    const bytes = value(call, row);
    if (bytes === null || bytes === UNSET) return null;
    if (type.kind === 'map')
      return entriesOf(bytes).find(([found]) => found && equalBytes(found, wanted))?.[1] ?? null;
    return elementsOf(bytes).find((found) => found && equalBytes(found, wanted)) ?? null;
  };
}

export function compileSlice(
  term: Extract<Term, { kind: 'slice' }>,
  context: TermContext,
): TermValue {
  const type = selectedCollection(term, context);
  const { value } = compileSelected(term.of, context);
  const name = termText(term.of);
  const keyType = type.kind === 'map' ? type.key : type.element;
  const label = `${type.kind === 'map' ? 'key' : 'value'}(${name})`;
  const limit = (bound: Term | undefined): TermValue | undefined =>
    bound && compileTerm(bound, { name: label, type: keyType }, context);
  const [from, to] = [limit(term.from), limit(term.to)];
  return (call, row) => {
    const edge = (bound: TermValue | undefined): Bytes | undefined => {
      if (bound === undefined) return undefined;
      const bytes = bound(call, row);
      if (bytes === null) throw invalid(`Invalid null value for slice selection on ${name}`);
      return bytes === UNSET ? undefined : bytes;
    };
    const [first, last] = [edge(from), edge(to)];
    const isWithin = (key: Bytes | undefined): boolean =>
      key !== undefined &&
      (first === undefined || compareTyped(keyType, key, first) >= 0) &&
      (last === undefined || compareTyped(keyType, key, last) <= 0);
    const bytes = value(call, row);
    if (bytes === null || bytes === UNSET) return null;
    if (type.kind === 'set') {
      const kept = elementsOf(bytes).filter(isWithin) as readonly Bytes[];
      return kept.length === 0 && !type.isFrozen ? null : collectionBytes(kept.length, kept);
    }
    const kept = entriesOf(bytes).filter(([key]) => isWithin(key)) as unknown as readonly [
      Bytes,
      Bytes,
    ][];
    return kept.length === 0 && !type.isFrozen ? null : collectionBytes(kept.length, kept.flat());
  };
}

function boundOf(value: BoundValue, what: string, name: string): Bytes | null {
  if (value === UNSET) throw invalid(`Invalid unset value for ${what} selection on ${name}`);
  return value;
}
