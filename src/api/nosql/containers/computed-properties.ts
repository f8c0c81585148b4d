/** The computed properties of a container, for its queries and its index. */
import type { ContainerRecord } from '../../../catalog/index.ts';
import type { ComputedProperty } from '../../../partition/index.ts';
import { isList, isMap } from '../../../value/index.ts';
import { type ComputedDefinition, computerOf, parseComputed } from '../sql/index.ts';

/** Definitions by name. They are valid: they were checked when the container was made. */
export function computedDefinitions({
  policies,
}: ContainerRecord): ReadonlyMap<string, ComputedDefinition> {
  return new Map(
    sentProperties(policies).map(({ name, query }) => [name, parseComputed(name, query)]),
  );
}

export function computedProperties({ policies }: ContainerRecord): readonly ComputedProperty[] {
  return sentProperties(policies).map(({ name, query }) => ({
    name,
    definition: query,
    compute: computerOf(parseComputed(name, query)),
  }));
}

function sentProperties({ computedProperties: sent }: ContainerRecord['policies']) {
  const properties: { readonly name: string; readonly query: string }[] = [];
  if (!isList(sent)) return properties;
  for (const property of sent) {
    if (!isMap(property)) continue;
    const { name, query } = property;
    if (typeof name === 'string' && typeof query === 'string') properties.push({ name, query });
  }
  return properties;
}
