/** Reads what is indexed of a body: most of a document is not looked at where few of its fields are indexed. */
import type { Bytes } from '../../../base/index.ts';
import { type Codec, parsePath, type Value } from '../../../value/index.ts';
import type { DeclaredIndex } from '../declared/declared-indexes.ts';

interface IndexedFields {
  readonly codec: Codec;
  readonly composites: readonly (readonly { readonly path: string }[])[];
  readonly declared?: readonly DeclaredIndex[];
  readonly computed?: readonly unknown[];
  readonly spatial?: readonly unknown[];
}

/**
 * Its argument `known` is the decoded body where the caller has it.
 * @param roots - names under which the automatic index has something; undefined: all.
 */
export function indexedReader(
  { codec, composites, declared = [], computed = [], spatial = [] }: IndexedFields,
  roots: readonly string[] | undefined,
): (body: Bytes, known: Value) => Value {
  const { indexed } = codec;
  if (indexed !== undefined) return (body) => indexed.call(codec, body);
  const whole = (body: Bytes, known: Value): Value => known ?? codec.decode(body);
  const isMade = declared.some((index) => index.computed !== undefined);
  if (roots === undefined || isMade || computed.length + spatial.length > 0) return whole;
  const parts = [...composites, ...declared.map((index) => [...index.parts, ...filterOf(index)])];
  const names = parts.flat().map(({ path }) => String(parsePath(path)[0]));
  const read = codec.fields?.(new Set([...roots, ...names]));
  return read === undefined ? whole : (body, known) => known ?? read(body);
}

function filterOf({ filter = [] }: DeclaredIndex): readonly { readonly path: string }[] {
  return filter;
}
