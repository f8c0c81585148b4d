/** Loads the vertices of which only the address is known, many at once, when a step needs their properties. */
import { GremlinMap, GremlinSet } from '../model/collections.ts';
import { Path, Vertex } from '../model/elements.ts';
import { BulkedResult } from '../model/terms.ts';
import type { GremlinValue } from '../model/value.ts';
import type { Frame } from './step.ts';
import type { Traverser } from './traverser.ts';

function isReference(value: GremlinValue): value is Vertex {
  return value instanceof Vertex && value.properties === undefined;
}

export async function loadReferences(
  values: readonly GremlinValue[],
  { run }: Frame,
): Promise<void> {
  const references = values.filter(isReference);
  if (references.length > 0) await run.graph.load(references);
}

/** The traversers with loaded vertices; those at vertices that do not exist are left out. */
export async function loaded(
  traversers: readonly Traverser[],
  frame: Frame,
): Promise<readonly Traverser[]> {
  if (!traversers.some(({ value }) => isReference(value))) return traversers;
  await loadReferences(
    traversers.map(({ value }) => value),
    frame,
  );
  return traversers.filter(({ value }) => !isReference(value));
}

/** The references anywhere in a result. */
export function referencesIn(value: GremlinValue, found: Vertex[] = []): Vertex[] {
  if (isReference(value)) found.push(value);
  else if (Array.isArray(value)) for (const member of value) referencesIn(member, found);
  else if (value instanceof GremlinSet) for (const member of value) referencesIn(member, found);
  else if (value instanceof GremlinMap)
    for (const [key, member] of value) {
      referencesIn(key, found);
      referencesIn(member, found);
    }
  else if (value instanceof Path) referencesIn(value.objects, found);
  else if (value instanceof BulkedResult) referencesIn(value.value, found);
  return found;
}
