/** ORDER BY needs an index in that order; without one in the policy the query is refused, as by the service. */
import { DomainError } from '../../../base/index.ts';
import type { Indexing } from '../../../partition/index.ts';
import type { CompositeOrder, ExecutableQuery } from '../../../query/index.ts';
import type { Path } from '../../../value/index.ts';

/** System properties that no policy indexes; such an order is sorted. */
const SYSTEM_PATHS: ReadonlySet<string> = new Set(['_rid', '_self', '_attachments']);

/** Throws `invalidInput`. A container without indexes sorts everything. */
export function checkOrder({ shape }: ExecutableQuery, indexing: Indexing): void {
  if (indexing.options.isOff || shape.kind !== 'streaming' || shape.order === undefined) return;
  const { parts } = shape.order;
  if (!parts.every((part): part is CompositeOrder => part.path !== undefined)) return;
  if (parts.length > 1) {
    if (indexing.compositeFor(parts) === undefined)
      throw new DomainError(
        'invalidInput',
        'The order by query does not have a corresponding composite index that it can be served from.',
      );
    return;
  }
  const path = parts[0]?.path;
  if (path !== undefined && !isSystemPath(path) && indexing.termsOf(path) === undefined)
    throw new DomainError(
      'invalidInput',
      'The index path corresponding to the specified order-by item is excluded.',
    );
}

function isSystemPath(path: Path): boolean {
  const [name] = path;
  return path.length === 1 && typeof name === 'string' && SYSTEM_PATHS.has(name);
}
