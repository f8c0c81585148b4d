/**
 * What `$expr` says of single fields, as a filter that indexes understand: `{ $eq: ["$field", value] }`, and lists of
 * values by `$in`, alone or under `$and`. The value is a constant or a variable, such as those of `$lookup`. A field that
 * equals a single value is no array, so that the filter matches all documents of the expression; these are tested after.
 */
import { type Bson, compareBson, isArray, isDocument } from '../../../../value/index.ts';
import { indexValue } from '../../indexes/filter-condition.ts';
import type { Filter } from '../../query/filter.ts';
import { arrayIndex, type FieldPath } from '../../query/path.ts';
import { compileExpression } from '../expressions/compile.ts';
import type { ExpressionContext } from '../expressions/scope.ts';

/** Evaluated for each run of a pipeline: variables have other values then. */
type Implied = () => Filter | undefined;

export function impliedFilters(sent: Bson, context: ExpressionContext): readonly Implied[] {
  // Under a collation other texts may be equal.
  if (!isDocument(sent) || sent.size !== 1 || context.compare !== compareBson) return [];
  const operands = (name: string): readonly Bson[] => {
    const list = sent.get(name);
    return isArray(list) ? list : [];
  };
  const parts = operands('$and').flatMap((part) => impliedFilters(part, context));
  const [left, right] = operands('$eq');
  for (const [field, value] of [
    [left, right],
    [right, left],
  ])
    parts.push(...equality(field, value, context, false));
  const [one, list] = operands('$in');
  return [...parts, ...equality(one, list, context, true)];
}

function equality(
  field: Bson | undefined,
  sent: Bson | undefined,
  context: ExpressionContext,
  isList: boolean,
): readonly Implied[] {
  const path = pathOf(field);
  if (path === undefined || sent === undefined || !isFixed(sent, context)) return [];
  const evaluate = compileExpression(sent, context);
  const nothing = new Map<string, Bson>();
  return [
    () => {
      const value = evaluate(nothing);
      const values = isList ? value : [value];
      if (!isArray(values) || !values.every(isPlain)) return undefined;
      return { kind: 'field', path, test: { kind: 'in', values: values as Bson[], regexes: [] } };
    },
  ];
}

/** A value that only equals itself, of whatever kind of number, and that an index has. */
function isPlain(value: Bson | undefined): boolean {
  return value !== undefined && indexValue(value) !== undefined;
}

/** The path of a field; a step of digits is a place in a filter, and a name in an expression. */
function pathOf(sent: Bson | undefined): FieldPath | undefined {
  if (typeof sent !== 'string' || !/^\$[^$]/.test(sent)) return undefined;
  const path = sent.slice(1).split('.');
  return path.some((step) => arrayIndex(step) !== undefined) ? undefined : path;
}

/** Whether an expression has one value for all documents, and is compiled without a refusal. */
function isFixed(sent: Bson, { variables }: ExpressionContext): boolean {
  if (typeof sent === 'string') {
    const name = /^\$\$([^.]+)/.exec(sent)?.[1];
    return name === undefined ? !sent.startsWith('$') : variables.has(name);
  }
  if (isArray(sent)) return sent.every((each) => isFixed(each, { variables } as ExpressionContext));
  return !isDocument(sent) || (sent.size === 1 && sent.has('$literal'));
}
