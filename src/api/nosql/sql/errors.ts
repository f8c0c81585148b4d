/** Diagnostics of queries, with the codes and messages of the service and the span of characters they point at. */
import { DomainError } from '../../../base/index.ts';

/** Half-open range of characters in the query text. */
export interface Span {
  readonly start: number;
  readonly end: number;
}

/** The span of a node that a rewrite made. */
export const NO_SPAN: Span = { start: 0, end: 0 };

export interface Diagnostic {
  /** Absent where the service has a message without a code. */
  readonly code?: string | number;
  readonly message: string;
  readonly span?: Span;
}

/** The error of an invalid query. Its message is the JSON text that clients look for inside the response. */
export class SqlError extends DomainError {
  readonly diagnostics: readonly Diagnostic[];

  constructor(...found: readonly Diagnostic[]) {
    super('invalidInput', diagnosticsToJson(found));
    this.diagnostics = found;
  }
}

function diagnosticsToJson(found: readonly Diagnostic[]): string {
  if (found.every((diagnostic) => diagnostic.code === undefined))
    return JSON.stringify({ Errors: found.map((diagnostic) => diagnostic.message) });
  return JSON.stringify({
    errors: found.map(({ code, message, span }) => ({
      severity: 'Error',
      ...(span && { location: { start: span.start, end: span.end } }),
      code,
      message,
    })),
  });
}

/** The messages of the service. A comment marks a code that is our guess at its numbering. */
export const diagnostics = {
  syntax: (near: string, span: Span): Diagnostic => ({
    code: 'SC1001',
    message: `Syntax error, incorrect syntax near '${near}'.`,
    span,
  }),
  rankDirection: (): Diagnostic => ({
    message:
      'One of the input values is invalid. Specifying a sort order (ASC or DESC) in the ORDER BY RANK clause is not allowed.',
  }),
  memberIndexer: (span: Span): Diagnostic => ({
    code: 'SC2990',
    message: "The specified query includes 'member indexer' which is currently not supported.",
    span,
  }),
  searchListSize: (value: number, span: Span): Diagnostic => ({
    code: 'SC2213',
    message: `The 'searchListSizeMultiplier' value ${value} specified in the VectorDistance function is outside the supported range. The value must be between 1 and 100.`,
    span,
  }),
  rankFunction: (span: Span): Diagnostic => ({
    code: 'SC2221',
    message:
      'The ORDER BY RANK clause must be followed by a VectorDistance and/or a FullTextScore function call.',
    span,
  }),
  rankWithIterator: (span: Span): Diagnostic => ({
    code: 'SC2223',
    message: 'The FROM clause with the IN operator is not allowed with the ORDER BY RANK clause.',
    span,
  }),
  rankWithJoin: (span: Span): Diagnostic => ({
    code: 'SC2224',
    message: 'The JOIN operator is not allowed with the ORDER BY RANK clause.',
    span,
  }),
  rankOverSubquery: (span: Span): Diagnostic => ({
    code: 'SC2225',
    message: 'Subqueries in the FROM clause are not allowed with the ORDER BY RANK clause.',
    span,
  }),
  rankInSubquery: (span: Span): Diagnostic => ({
    code: 'SC2228',
    message: 'The ORDER BY RANK clause is not supported in subqueries.',
    span,
  }),
  rankWeights: (span: Span): Diagnostic => ({
    code: 'SC2229',
    message:
      'The last parameter of the RRF function is an optional array of weights. When present, it must be a literal array of numbers, one for each of the component scores used for the RRF function. The length of this array must be the same as the number of the component scores.',
    span,
  }),
  scorePlace: (span: Span): Diagnostic => ({
    code: 'SC2240',
    message: 'The FullTextScore function is only allowed in the ORDER BY RANK clause.',
    span,
  }),
  endOfText: (at: number): Diagnostic => ({
    code: 'SC1002',
    message: 'Syntax error, unexpected end-of-file.',
    span: { start: at, end: at },
  }),
  token: (text: string, span: Span): Diagnostic => ({
    code: 'SC1010',
    message: `Syntax error, invalid token '${text}'.`,
    span,
  }),
  stringToken: (text: string, span: Span): Diagnostic => ({
    code: 'SC1012',
    message: `Syntax error, invalid string literal token '${text}'.`,
    span,
  }),
  identifier: (name: string, span: Span): Diagnostic => ({
    code: 'SC2001',
    message: `Identifier '${name}' could not be resolved.`,
    span,
  }),
  unknownFunction: (name: string, span: Span): Diagnostic => ({
    code: 'SC2005',
    message: `'${name}' is not a recognized built-in function name.`,
    span,
  }),
  unknownUdf: (name: string, span: Span): Diagnostic => ({
    code: 'SC2006',
    message: `User defined function '${name}' could not be found.`,
    span,
  }),
  starInputs: (span: Span): Diagnostic => ({
    code: 'SC2040',
    message: "'SELECT *' is only valid with a single input set.",
    span,
  }),
  starWithoutFrom: (span: Span): Diagnostic => ({
    code: 'SC1001',
    message: "Syntax error, 'SELECT *' is not valid if FROM clause is omitted.",
    span,
  }),
  starWithGroupBy: (span: Span): Diagnostic => ({
    code: 'SC2041',
    message: "'SELECT *' is not allowed with GROUP BY.",
    span,
  }),
  argumentCount: (name: string, wanted: string, span: Span): Diagnostic => ({
    code: 'SC2050',
    message: `The ${name} function requires ${wanted} argument(s).`,
    span,
  }),
  top: (span: Span): Diagnostic => ({
    code: 'SC2060',
    message: 'The count value provided for a TOP clause must be an integer.',
    span,
  }),
  limit: (span: Span): Diagnostic => ({
    code: 'SC2061',
    message: 'The LIMIT count value exceeds the maximum allowed value.',
    span,
  }),
  offset: (span: Span): Diagnostic => ({
    code: 'SC2062',
    message: 'The OFFSET count value exceeds the maximum allowed value.',
    span,
  }),
  nestedAggregate: (span: Span): Diagnostic => ({
    code: 'SC2101',
    message:
      'Cannot perform an aggregate function on an expression containing an aggregate or a subquery.',
    span,
  }),
  notGrouped: (text: string, span: Span): Diagnostic => ({
    code: 'SC2102',
    message: `Property reference '${text}' is invalid in the select list because it is not contained in either an aggregate function or the GROUP BY clause.`,
    span,
  }),
  notGroupedOrder: (text: string, span: Span): Diagnostic => ({
    code: 'SC2103',
    message: `Property reference '${text}' is invalid in the ORDER BY clause because it is not contained in either an aggregate function or the GROUP BY clause.`,
    span,
  }),
  /** The message is the service's, the code our guess. */
  orderWithGroups: (span: Span): Diagnostic => ({
    code: 'SC2105',
    message: "'ORDER BY' is not supported in presence of GROUP BY.",
    span,
  }),
  orderInSubquery: (span: Span): Diagnostic => ({
    code: 'SC2202',
    message: "'ORDER BY' is not supported in subqueries.",
    span,
  }),
  topInSubquery: (span: Span): Diagnostic => ({
    code: 'SC2203',
    message: "'TOP' is not supported in subqueries.",
    span,
  }),
  windowInSubquery: (span: Span): Diagnostic => ({
    code: 'SC2204',
    message: "'OFFSET LIMIT' clause is not supported in subqueries.",
    span,
  }),
  aggregatePlace: (span: Span): Diagnostic => ({
    code: 'SC2103',
    message: 'An aggregate function is only allowed in the SELECT clause.',
    span,
  }),
  duplicateAlias: (name: string, span: Span): Diagnostic => ({
    code: 'SC2011',
    message: `The input alias '${name}' is specified more than once in the FROM clause.`,
    span,
  }),
  /** SC3001 to SC3004 follow the order of the limits in the account's query configuration. */
  textTooLong: (max: number): Diagnostic => ({
    code: 'SC3001',
    message: `The SQL query text exceeded the maximum limit of ${max} characters.`,
  }),
  tooManyJoins: (max: number): Diagnostic => ({
    code: 'SC3002',
    message: `The query exceeded the maximum number of JOIN clauses: ${max}.`,
  }),
  tooManyAnds: (max: number): Diagnostic => ({
    code: 'SC3003',
    message: `The query exceeded the maximum number of logical AND expressions: ${max}.`,
  }),
  tooManyOrs: (max: number): Diagnostic => ({
    code: 'SC3004',
    message: `The query exceeded the maximum number of logical OR expressions: ${max}.`,
  }),
  tooManyUdfs: (max: number): Diagnostic => ({
    code: 'SC3005',
    message: `The query exceeded the maximum number of user defined function calls: ${max}.`,
  }),
  tooDeep: (): Diagnostic => ({
    code: 'SC3006',
    message: 'The query text is nested too deeply.',
  }),
  orderByPath: (): Diagnostic => ({
    code: 2206,
    message:
      'Unsupported ORDER BY clause. ORDER BY item expression could not be mapped to a document path.',
  }),
  vectorDirection: (): Diagnostic => ({
    message:
      'Specifying a sorting order (ASC or DESC) with VectorDistance function is not supported.',
  }),
  scalarRows: (): Diagnostic => ({
    message: 'The cardinality of a scalar subquery result set cannot be greater than one.',
  }),
  features: (names: readonly string[]): Diagnostic => ({
    message: `Query contains the following features, which the calling client does not support: ${names.join(' ')}`,
  }),
  composition: (): Diagnostic => ({
    message: 'Compositions of aggregates and other expressions are not allowed.',
  }),
} as const;
