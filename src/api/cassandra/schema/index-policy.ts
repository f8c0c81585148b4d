/** The indexing policy of a table: a path for each index that a client has declared, and nothing else. */
import type { ContainerSpec } from '../../../service/index.ts';
import { ARRAY_ELEMENT } from '../../../value/index.ts';
import { termPath } from '../cells/index-terms.ts';
import type { IndexSchema, TableParts } from './table-schema.ts';

type Policy = ContainerSpec['indexingPolicy'];

/** No index: queries of CQL go by keys. The NoSQL API scans. */
const NO_INDEX = {
  automatic: false,
  indexingMode: 'none',
  includedPaths: [],
  excludedPaths: [],
} as unknown as Policy;

export function indexingPolicyOf({ indexes = [], columns }: TableParts): Policy {
  const paths = indexes.flatMap(({ column, part }) => {
    const found = columns.find(({ name }) => name === column);
    // Static columns are in the header, which no index has.
    return found === undefined || found.kind === 'static'
      ? []
      : [pathText(termPath(found, collectionPart(part)))];
  });
  if (paths.length === 0) return NO_INDEX;
  return {
    automatic: true,
    indexingMode: 'consistent',
    includedPaths: [...new Set(paths)].map((path) => ({ path })),
    excludedPaths: [{ path: '/*' }, { path: '/"_etag"/?' }],
  };
}

function collectionPart(part: IndexSchema['part']): 'values' | 'keys' | 'entries' | undefined {
  return part === 'simple' || part === 'full' ? undefined : part;
}

function pathText(path: ReturnType<typeof termPath>): string {
  const steps = path.map((step) => (step === ARRAY_ELEMENT ? '[]' : JSON.stringify(step)));
  return `/${steps.join('/')}/?`;
}
