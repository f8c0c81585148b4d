/** Whether an index that a client has declared answers a restriction. */
import type { TableSchema } from '../../schema/table-schema.ts';
import type { Restriction } from './restriction.ts';

export function hasIndexFor(restriction: Restriction, { indexes }: TableSchema): boolean {
  if (indexes.length === 0) return false;
  return restriction.columns.some(({ name }) => {
    const parts = indexes.filter(({ column }) => column === name).map(({ part }) => part);
    switch (restriction.kind) {
      case 'eq':
        return parts.includes('simple') || parts.includes('full');
      case 'contains':
        // Only a column with an index that answers LIKE gets this far with it.
        return restriction.contained.some(({ part }) => part === 'like' || parts.includes(part));
      default:
        return false;
    }
  });
}
