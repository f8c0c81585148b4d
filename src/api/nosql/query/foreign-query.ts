/**
 * Queries on items of other APIs. Rows are made of the documents that an image shows. A condition on a property that
 * only documents have would find nothing in an index, so it allows everything.
 */
import type { ContainerRecord } from '../../../catalog/index.ts';
import { formatEtag } from '../../../partition/index.ts';
import {
  ANYTHING,
  allOf,
  anyOf,
  type Condition,
  type ExecutableQuery,
  type FoundItem,
} from '../../../query/index.ts';
import type { HomeApi } from '../../../service/index.ts';
import type { Value } from '../../../value/index.ts';
import { ForeignItems } from '../items/foreign-items.ts';

/** Properties that this API adds to every document. */
const SYSTEM_NAMES = ['_rid', '_self', '_etag', '_attachments', '_ts'];

export interface ForeignQuery {
  documentOf(item: FoundItem): Value;
  /** The query with a condition on stored properties only. */
  adapt(query: ExecutableQuery): ExecutableQuery;
}

/** Undefined where stored bodies are the documents. */
export function foreignQuery(home: HomeApi, container: ContainerRecord): ForeignQuery | undefined {
  const foreign = ForeignItems.of(home, container);
  if (foreign === undefined) return undefined;
  const added = new Set([...(home.image?.added ?? []), ...SYSTEM_NAMES]);
  return {
    documentOf(item) {
      const { rid, primary, version, timestampSec, body } = item;
      const etag = formatEtag(version);
      return foreign.documentOf({ rid, primary, version, timestampSec, body, etag }, item.value());
    },
    adapt(query) {
      const condition = storedCondition(query.condition, added);
      return condition === query.condition ? query : { ...query, condition, isExact: false };
    },
  };
}

/** The same object where no part of it is about an added property. */
function storedCondition(condition: Condition, added: ReadonlySet<unknown>): Condition {
  switch (condition.kind) {
    case 'term':
    case 'text':
      return added.has(condition.path[0]) ? ANYTHING : condition;
    case 'all':
    case 'any': {
      const of = condition.of.map((part) => storedCondition(part, added));
      if (of.every((part, at) => part === condition.of[at])) return condition;
      return condition.kind === 'all' ? allOf(...of) : anyOf(...of);
    }
    default:
      return condition;
  }
}
