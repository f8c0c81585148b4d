/** Walks over the syntax tree, for all later phases. */
import { chainOperands, type Expression, type Query, type Source } from './ast.ts';

/** The direct subexpressions of an expression; a subquery is a leaf here. */
export function childrenOf(expression: Expression): readonly Expression[] {
  switch (expression.kind) {
    case 'literal':
    case 'parameter':
    case 'identifier':
    case 'placeholder':
    case 'subquery':
      return [];
    case 'property':
      return [expression.base];
    case 'index':
      return [expression.base, expression.index];
    case 'array':
      return expression.items;
    case 'object':
      return expression.properties.map((property) => property.value);
    case 'unary':
      return [expression.operand];
    case 'binary':
      return expression.operator === 'AND' || expression.operator === 'OR'
        ? chainOperands(expression, expression.operator)
        : [expression.left, expression.right];
    case 'conditional':
      return [expression.condition, expression.consequent, expression.alternative];
    case 'between':
      return [expression.value, expression.low, expression.high];
    case 'in':
      return [expression.value, ...expression.items];
    case 'like':
      return [expression.value, expression.pattern];
    case 'call':
    case 'udfCall':
      return expression.arguments;
  }
}

/** The expressions of the clauses of a query. */
function expressionsOf(query: Query): readonly Expression[] {
  const { selection } = query.select;
  return [
    ...(selection.kind === 'value' ? [selection.expression] : []),
    ...(selection.kind === 'list' ? selection.items.map((item) => item.expression) : []),
    ...(query.where ? [query.where] : []),
    ...(query.groupBy ?? []),
    ...(query.orderBy?.items.map((item) => item.expression) ?? []),
  ];
}

/** The sources of a FROM from left to right, joins unfolded without recursion. */
export function sourcesOf(from: Source | undefined): readonly Exclude<Source, { kind: 'join' }>[] {
  const reversed: Exclude<Source, { kind: 'join' }>[] = [];
  const pending = from ? [from] : [];
  for (let at = pending.pop(); at; at = pending.pop()) {
    if (at.kind === 'join') pending.push(at.left, at.right);
    else reversed.push(at);
  }
  return reversed.reverse();
}

/** Counts the expressions of a query, nested ones included, without those of subqueries. */
export function nodeCount(query: Query): number {
  const pending = [...expressionsOf(query)];
  let count = 1;
  for (let at = pending.pop(); at; at = pending.pop()) {
    count++;
    for (const child of childrenOf(at)) pending.push(child);
  }
  return count;
}

/** Height of the tree, subqueries included, measured without recursion. */
export function treeDepth(query: Query): number {
  let deepest = 0;
  const pending: { readonly node: Query | Expression; readonly depth: number }[] = [
    { node: query, depth: 0 },
  ];
  for (let at = pending.pop(); at; at = pending.pop()) {
    const depth = at.depth + 1;
    deepest = Math.max(deepest, depth);
    for (const node of nodesBelow(at.node)) pending.push({ node, depth });
  }
  return deepest;
}

function nodesBelow(node: Query | Expression): readonly (Query | Expression)[] {
  if (node.kind === 'subquery') return [node.query];
  if (node.kind !== 'query') return childrenOf(node);
  const subqueries = sourcesOf(node.from).flatMap(({ collection }) =>
    collection.kind === 'subquery' ? [collection.query] : [],
  );
  return [...expressionsOf(node), ...subqueries];
}
