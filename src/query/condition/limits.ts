/** The part of a condition that declared indexes can use. */
import { ARRAY_ELEMENT } from '../../value/index.ts';
import type { IndexLimit } from '../reader.ts';
import type { Condition } from './condition.ts';

/** The limits that a condition sets on single paths. */
export function limitsOf(condition: Condition): readonly IndexLimit[] {
  const parts = condition.kind === 'all' ? condition.of : [condition];
  return parts.flatMap((part): readonly IndexLimit[] => {
    if (!isLimit(part)) return NO_LIMITS;
    if (part.path.includes(ARRAY_ELEMENT)) return NO_LIMITS;
    const { path, ranges } = part;
    return [{ path, ranges, isOfElements: part.kind === 'declared' }];
  });
}

const NO_LIMITS: readonly IndexLimit[] = [];

function isLimit(part: Condition): part is Condition & IndexLimit {
  return part.kind === 'declared' || (part.kind === 'term' && part.test === undefined);
}
