/** Several relations on the same columns: slices and CONTAINS can be joined, everything else is refused. */
import { invalid } from '../../errors.ts';
import type { ColumnSchema } from '../../schema/table-schema.ts';
import type { Restriction } from './restriction.ts';

/** Restrictions in the order of their first columns, after one more. */
export function withRestriction(
  restrictions: readonly Restriction[],
  added: Restriction,
): readonly Restriction[] {
  let merged = added;
  const rest: Restriction[] = [];
  for (const existing of restrictions)
    if (inCommon(existing, added) === '') rest.push(existing);
    else merged = mergeTwo(existing, merged);
  return [...rest, merged].sort((a, b) => firstColumn(a).position - firstColumn(b).position);
}

export function firstColumn({ columns }: Restriction): ColumnSchema {
  return columns[0] as ColumnSchema;
}

export function lastColumn({ columns }: Restriction): ColumnSchema {
  return columns.at(-1) as ColumnSchema;
}

function inCommon(a: Restriction, b: Restriction): string {
  return a.columns
    .filter((column) => b.columns.includes(column))
    .map(({ name }) => name)
    .join(', ');
}

function mergeTwo(existing: Restriction, added: Restriction): Restriction {
  const names = inCommon(existing, added);
  switch (existing.kind) {
    case 'eq':
      throw invalid(
        `${names} cannot be restricted by more than one relation if it includes an Equal`,
      );
    case 'in':
      throw invalid(`${names} cannot be restricted by more than one relation if it includes a IN`);
    case 'contains':
      if (added.kind !== 'contains')
        throw invalid(
          `Collection column ${names} can only be restricted by CONTAINS, CONTAINS KEY, or map-entry equality`,
        );
      return { ...existing, contained: [...existing.contained, ...added.contained] };
    case 'slice':
      return mergeSlices(existing, added, names);
  }
}

type SliceRestriction = Extract<Restriction, { kind: 'slice' }>;

function mergeSlices(
  existing: SliceRestriction,
  added: Restriction,
  names: string,
): SliceRestriction {
  if (added.kind !== 'slice')
    throw invalid(
      `Column "${names}" cannot be restricted by both an equality and an inequality relation`,
    );
  const [a, b] = [firstColumn(existing), firstColumn(added)];
  if (a !== b) {
    const later = a.position > b.position ? a : b;
    throw invalid(
      `Column "${later.name}" cannot be restricted by two inequalities not starting with the same column`,
    );
  }
  if (existing.lower !== undefined && added.lower !== undefined)
    throw invalid(`More than one restriction was found for the start bound on ${names}`);
  if (existing.upper !== undefined && added.upper !== undefined)
    throw invalid(`More than one restriction was found for the end bound on ${names}`);
  return {
    kind: 'slice',
    columns: existing.columns.length >= added.columns.length ? existing.columns : added.columns,
    isMulti: existing.isMulti || added.isMulti,
    lower: existing.lower ?? added.lower,
    upper: existing.upper ?? added.upper,
  };
}
