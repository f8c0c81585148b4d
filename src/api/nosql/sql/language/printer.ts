/**
 * Syntax tree → canonical text: every operator in parentheses, strings in double quotes. The odd spaces (after GROUP BY,
 * in NOT  LIKE) are those of the service's own clients, whose texts the baselines fix.
 */
import { unreachable } from '../../../../base/index.ts';
import {
  type Collection,
  chainOperands,
  type Expression,
  type Literal,
  type OrderBy,
  type PathStep,
  type Query,
  type Select,
  type Source,
  type Window,
} from './ast.ts';
import { sourcesOf } from './ast-walk.ts';

/** The query on one line. */
export function printQuery(query: Query): string {
  return clauses(query).join(' ');
}

/** The query as the plan shows it: one clause a line, no trailing spaces, and only directions that were written. */
export function printRewritten(query: Query): string {
  return clauses(query, '')
    .map((clause) => clause.trimEnd())
    .join('\n');
}

function clauses(query: Query, unspecified = ' ASC'): string[] {
  return [
    printSelect(query.select),
    ...(query.from ? [`FROM ${printSource(query.from)}`] : []),
    ...(query.where ? [`WHERE ${printExpression(query.where)}`] : []),
    ...(query.groupBy ? [`${printGroupBy(query.groupBy)} `] : []),
    ...(query.orderBy ? [printOrderBy(query.orderBy, unspecified)] : []),
    ...(query.window ? [printWindow(query.window)] : []),
  ];
}

export function printSelect({ isDistinct, top, selection }: Select): string {
  const head = `SELECT ${isDistinct ? 'DISTINCT ' : ''}${top ? `TOP ${printExpression(top)} ` : ''}`;
  switch (selection.kind) {
    case 'star':
      return `${head}*`;
    case 'value':
      return `${head}VALUE ${printExpression(selection.expression)}`;
    case 'list':
      return (
        head +
        selection.items
          .map(({ expression, alias }) =>
            alias === undefined
              ? printExpression(expression)
              : `${printExpression(expression)} AS ${alias}`,
          )
          .join(', ')
      );
    default:
      return unreachable(selection);
  }
}

export function printSource(from: Source): string {
  return sourcesOf(from)
    .map((source) => {
      const collection = printCollection(source.collection);
      if (source.kind === 'iterator') return `${source.name} IN ${collection}`;
      return source.alias === undefined ? collection : `${collection} AS ${source.alias}`;
    })
    .join(' JOIN ');
}

function printCollection(collection: Collection): string {
  return collection.kind === 'subquery'
    ? `(${printQuery(collection.query)})`
    : collection.root + collection.steps.map(printStep).join('');
}

function printStep(step: PathStep): string {
  switch (step.kind) {
    case 'name':
      return `.${step.name}`;
    case 'text':
      return `[${printString(step.name)}]`;
    case 'number':
      return `[${step.index}]`;
    default:
      return unreachable(step);
  }
}

export function printGroupBy(expressions: readonly Expression[]): string {
  return `GROUP BY ${printList(expressions)}`;
}

/** @param unspecified - printed for a direction that was not written; a rank clause never has one. */
export function printOrderBy({ isRank, items }: OrderBy, unspecified = ' ASC'): string {
  const printed = items.map(({ expression, direction }) => {
    const suffix =
      direction === 'descending'
        ? ' DESC'
        : direction === 'ascending'
          ? ' ASC'
          : isRank
            ? ''
            : unspecified;
    return printExpression(expression) + suffix;
  });
  return `ORDER BY ${isRank ? 'RANK ' : ''}${printed.join(', ')}`;
}

export function printWindow({ offset, limit }: Window): string {
  return `OFFSET ${printExpression(offset)} LIMIT ${printExpression(limit)}`;
}

const SUBQUERY_PREFIX = {
  scalar: '',
  exists: 'EXISTS',
  array: 'ARRAY',
  all: 'ALL',
  first: 'FIRST',
  last: 'LAST',
} as const;

export function printExpression(expression: Expression): string {
  switch (expression.kind) {
    case 'literal':
      return printLiteral(expression);
    case 'parameter':
    case 'identifier':
      return expression.name;
    case 'placeholder':
      return expression.text;
    case 'property':
      return `${printExpression(expression.base)}.${expression.name}`;
    case 'index':
      return `${printExpression(expression.base)}[${printExpression(expression.index)}]`;
    case 'array':
      return `[${printList(expression.items)}]`;
    case 'object':
      return `{${expression.properties
        .map(({ name, value }) => `${printString(name)}: ${printExpression(value)}`)
        .join(', ')}}`;
    case 'unary':
      return `(${expression.operator} ${printExpression(expression.operand)})`;
    case 'binary': {
      const { operator } = expression;
      const [first, ...rest] = chainOperands(expression, operator) as [Expression, ...Expression[]];
      return (
        '('.repeat(rest.length) +
        printExpression(first) +
        rest.map((operand) => ` ${operator} ${printExpression(operand)})`).join('')
      );
    }
    case 'conditional':
      return `(${printExpression(expression.condition)} ? ${printExpression(expression.consequent)} : ${printExpression(expression.alternative)})`;
    case 'between':
      return `(${printExpression(expression.value)}${expression.isNegated ? ' NOT' : ''} BETWEEN ${printExpression(expression.low)} AND ${printExpression(expression.high)})`;
    case 'in':
      return `(${printExpression(expression.value)}${expression.isNegated ? ' NOT' : ''} IN (${printList(expression.items)}))`;
    case 'like': {
      const suffix =
        expression.escape === undefined ? '' : ` ESCAPE ${printString(expression.escape)}`;
      return `(${printExpression(expression.value)}${expression.isNegated ? ' NOT ' : ''} LIKE ${printExpression(expression.pattern)}${suffix})`;
    }
    case 'call':
      return `${expression.name}(${printList(expression.arguments)})`;
    case 'udfCall':
      return `udf.${expression.name}(${printList(expression.arguments)})`;
    case 'subquery':
      return `${SUBQUERY_PREFIX[expression.form]}(${printQuery(expression.query)})`;
    default:
      return unreachable(expression);
  }
}

function printList(expressions: readonly Expression[]): string {
  return expressions.map(printExpression).join(', ');
}

function printLiteral({ value, digits }: Literal): string {
  if (typeof value === 'string') return printString(value);
  if (typeof value === 'number') return digits ?? printNumber(value);
  return String(value);
}

/** Whole numbers of 64 bits in digits, other large and small ones in the exponent form of .NET. */
function printNumber(value: number): string {
  if (!Number.isFinite(value)) return String(value);
  if (Object.is(value, -0)) return '-0';
  if (Number.isInteger(value) && Math.abs(value) < 2 ** 63) return BigInt(value).toString();
  const magnitude = Math.abs(value);
  if (magnitude >= 1e-5 && magnitude < 1e15) return String(value);
  const [mantissa, exponent] = value.toExponential().split('e') as [string, string];
  return `${mantissa}E${exponent.replace(/^([+-])(\d)$/, '$10$2')}`;
}

const NEEDS_ESCAPE = /["\\\p{Cc}\u2028\u2029]/gu;
const SHORT_ESCAPES: Readonly<Record<string, string>> = {
  '"': '\\"',
  '\\': '\\\\',
  '\b': '\\b',
  '\f': '\\f',
  '\n': '\\n',
  '\r': '\\r',
  '\t': '\\t',
};

function printString(value: string): string {
  const escaped = value.replace(NEEDS_ESCAPE, (character) => {
    const short = SHORT_ESCAPES[character];
    if (short !== undefined) return short;
    return `\\u${character.charCodeAt(0).toString(16).toUpperCase().padStart(4, '0')}`;
  });
  return `"${escaped}"`;
}
