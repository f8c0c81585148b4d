/** The comparisons of CQL between two values of one type, neither of them null. */
import type { Bytes } from '../../../base/index.ts';
import type { Comparison } from '../cql/ast.ts';
import type { CqlType } from './cql-type.ts';
import { compareTyped } from './ordered.ts';

export function compares(operator: Comparison, type: CqlType, a: Bytes, b: Bytes): boolean {
  const order = compareTyped(type, a, b);
  switch (operator) {
    case '=':
      return order === 0;
    case '!=':
      return order !== 0;
    case '<':
      return order < 0;
    case '<=':
      return order <= 0;
    case '>':
      return order > 0;
    case '>=':
      return order >= 0;
  }
}
