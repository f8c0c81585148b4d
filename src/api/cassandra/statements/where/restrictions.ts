/** WHERE, sorted by what it restricts: the partition key, the clustering columns, tokens, and what must be filtered. */
import type { Bytes } from '../../../../base/index.ts';
import type { Relation } from '../../cql/ast.ts';
import { invalid } from '../../errors.ts';
import type { ColumnSchema, TableSchema } from '../../schema/table-schema.ts';
import type { TermContext } from '../expressions/context.ts';
import type { Call } from '../plan.ts';
import { type Filter, filterOf, indexedFilter } from './filters.ts';
import { type IndexCondition, indexConditionOf } from './index-condition.ts';
import { hasIndexFor } from './indexed.ts';
import { firstColumn, lastColumn, withRestriction } from './merge-restrictions.ts';
import { type Bound, type KeyValues, type Restriction, restrictionOf } from './restriction.ts';
import { mergeTokens, type TokenBound, tokenBound } from './token-bounds.ts';

/** Alternatives for the next columns of a key: each has as many values as there are columns. */
export interface KeyStep {
  readonly columns: number;
  readonly isIn: boolean;
  readonly values: KeyValues;
}

export type InValues = (call: Call) => readonly Bytes[];

export interface Restrictions {
  /** One for each column of the partition key; empty where it is not restricted as a whole. */
  readonly partition: readonly InValues[];
  readonly tokens: readonly TokenBound[];
  /** The first clustering columns. */
  readonly steps: readonly KeyStep[];
  readonly lower: Bound | undefined;
  readonly upper: Bound | undefined;
  /** Conditions that the keys do not decide. */
  readonly filters: readonly Filter[];
  /** Conditions among them that indexes answer, where no partition is named. */
  readonly indexed: readonly IndexCondition[];
  readonly isInOnPartition: boolean;
  readonly isInOnClustering: boolean;
  readonly isKeyRange: boolean;
  readonly usesIndex: boolean;
  readonly hasClustering: boolean;
  readonly hasRegular: boolean;
  /** Columns outside of the key that are restricted. */
  readonly others: readonly ColumnSchema[];
  readonly equalColumns: ReadonlySet<string>;
}

interface WhereOptions {
  readonly statement: 'SELECT' | 'UPDATE' | 'DELETE';
  readonly allowsFiltering: boolean;
  /** The statement reads or writes static columns alone. */
  readonly isStaticOnly: boolean;
}

const NEEDS_FILTERING =
  'Cannot execute this query as it might involve data filtering and thus may have unpredictable performance. If you want to execute this query despite the performance unpredictability, use ALLOW FILTERING';

export function compileWhere(
  where: readonly Relation[],
  schema: TableSchema,
  context: TermContext,
  options: WhereOptions,
): Restrictions {
  return new RestrictionsBuilder(schema, context, options).build(where);
}

class RestrictionsBuilder {
  readonly #schema: TableSchema;
  readonly #context: TermContext;
  readonly #options: WhereOptions;
  #partition: readonly Restriction[] = [];
  #clustering: readonly Restriction[] = [];
  #others: readonly Restriction[] = [];
  #tokens: readonly TokenBound[] = [];
  #isKeyRange = false;
  #usesIndex = false;

  constructor(schema: TableSchema, context: TermContext, options: WhereOptions) {
    this.#schema = schema;
    this.#context = context;
    this.#options = options;
  }

  build(where: readonly Relation[]): Restrictions {
    for (const relation of where) this.#add(relation);
    const isSelect = this.#options.statement === 'SELECT';
    const hasIndex =
      isSelect &&
      [...this.#partition, ...this.#clustering, ...this.#others].some((restriction) =>
        hasIndexFor(restriction, this.#schema),
      );
    const hasClusteringIndex =
      isSelect && this.#clustering.some((restriction) => hasIndexFor(restriction, this.#schema));
    const filtered: Restriction[] = [];
    if (isSelect) this.#checkPartition(hasIndex);
    else this.#checkWholePartition();
    const isPartitionFiltered = this.#needsPartitionFilter();
    if (this.#usesIndex || isPartitionFiltered) filtered.push(...this.#partition);
    this.#checkStatics();
    this.#checkClustering(hasIndex);
    if (this.#isKeyRange && hasClusteringIndex) this.#usesIndex = true;
    const isClusteringFiltered = this.#needsClusteringFilter();
    if (this.#usesIndex || isClusteringFiltered) filtered.push(...this.#clustering);
    this.#checkOthers(hasIndex);
    filtered.push(...this.#others);
    const isInOnPartition = this.#partition.some(({ kind }) => kind === 'in');
    if (this.#usesIndex && isInOnPartition)
      throw invalid(
        'Select on indexed columns and with IN clause for the PRIMARY KEY are not supported',
      );
    if (isSelect) this.#checkFiltering(filtered);
    return this.#finish(isPartitionFiltered, isInOnPartition);
  }

  #add(relation: Relation): void {
    const { statement, allowsFiltering } = this.#options;
    if (relation.kind === 'notNull')
      throw invalid(`Unsupported restriction: ${relation.column} IS NOT NULL`);
    if (relation.kind === 'token') {
      this.#tokens = mergeTokens(
        this.#tokens,
        tokenBound(relation, this.#schema, this.#context),
        this.#schema,
      );
      return;
    }
    const restriction = restrictionOf(relation, this.#schema, this.#context);
    if (restriction.kind === 'contains' && statement !== 'SELECT')
      throw invalid(
        `Cannot use ${statement} with ${relation.kind === 'column' ? relation.operator : '='}`,
      );
    switch (firstColumn(restriction).kind) {
      case 'partition_key':
        this.#partition = withRestriction(this.#partition, restriction);
        return;
      case 'clustering':
        if (!allowsFiltering) this.#checkOrder(restriction);
        this.#clustering = withRestriction(this.#clustering, restriction);
        return;
      default:
        this.#others = withRestriction(this.#others, restriction);
    }
  }

  /** A slice ends what the keys can answer. */
  #checkOrder(added: Restriction): void {
    const last = this.#clustering.at(-1);
    if (last === undefined) return;
    const [lastStart, start] = [firstColumn(last), firstColumn(added)];
    if (last.kind === 'slice' && start.position > lastStart.position)
      throw invalid(
        `Clustering column "${start.name}" cannot be restricted (preceding column "${lastStart.name}" is restricted by a non-EQ relation)`,
      );
    if (start.position < lastStart.position && added.kind === 'slice') {
      const next = this.#clustering.find((one) => firstColumn(one).position > start.position);
      throw invalid(
        `PRIMARY KEY column "${next && firstColumn(next).name}" cannot be restricted (preceding column "${start.name}" is restricted by a non-EQ relation)`,
      );
    }
  }

  #missingKeys(): readonly string[] {
    const restricted = new Set(this.#partition.flatMap(({ columns }) => columns));
    return this.#schema.partitionKey
      .filter((column) => !restricted.has(column))
      .map(({ name }) => name);
  }

  #needsPartitionFilter(): boolean {
    if (this.#partition.length === 0) return false;
    return (
      this.#missingKeys().length > 0 ||
      this.#partition.some(({ kind }) => kind === 'slice' || kind === 'contains')
    );
  }

  #checkPartition(hasIndex: boolean): void {
    if (this.#tokens.length > 0) this.#isKeyRange = true;
    if (this.#partition.length === 0 && this.#tokens.length === 0) {
      this.#isKeyRange = true;
      this.#usesIndex = hasIndex;
    }
    if (!this.#needsPartitionFilter()) return;
    if (!this.#options.allowsFiltering && !hasIndex) throw invalid(NEEDS_FILTERING);
    if (this.#partition.some(({ kind }) => kind === 'in'))
      throw invalid('IN restrictions are not supported when the query involves filtering');
    this.#isKeyRange = true;
    this.#usesIndex = hasIndex;
  }

  #checkWholePartition(): void {
    const { statement } = this.#options;
    if (this.#tokens.length > 0)
      throw invalid(
        `The token function cannot be used in WHERE clauses for ${statement} statements`,
      );
    const missing = this.#missingKeys();
    if (missing.length > 0)
      throw invalid(`Some partition key parts are missing: ${missing.join(', ')}`);
    if (this.#partition.some(({ kind }) => kind === 'slice'))
      throw invalid(
        `Only EQ and IN relation are supported on the partition key (unless you use the token() function) for ${statement} statements`,
      );
  }

  #checkStatics(): void {
    const { statement, isStaticOnly } = this.#options;
    if (!isStaticOnly || this.#clustering.length === 0) return;
    throw invalid(
      statement === 'SELECT'
        ? 'Cannot restrict clustering columns when selecting only static columns'
        : `Invalid restrictions on clustering columns since the ${statement} statement modifies only static columns`,
    );
  }

  #checkClustering(hasIndex: boolean): void {
    const { statement, allowsFiltering, isStaticOnly } = this.#options;
    const { clustering, isCompact } = this.#schema;
    const restricted = new Set(this.#clustering.flatMap(({ columns }) => columns));
    if (statement === 'UPDATE') {
      if (this.#clustering.some(({ kind }) => kind === 'slice'))
        throw invalid(
          'Slice restrictions are not supported on the clustering columns in UPDATE statements',
        );
      const missing = clustering.filter((column) => !restricted.has(column));
      if (!isStaticOnly && missing.length > 0 && (!isCompact || restricted.size === 0))
        throw invalid(
          `Some clustering keys are missing: ${missing.map(({ name }) => name).join(', ')}`,
        );
      this.#checkPrefix(restricted);
      return;
    }
    if (this.#clustering.some(({ kind }) => kind === 'contains') && !hasIndex && !allowsFiltering)
      throw invalid(
        'Clustering columns can only be restricted with CONTAINS with a secondary index or filtering',
      );
    if (!this.#needsClusteringFilter()) return;
    if (hasIndex) {
      this.#usesIndex = true;
      return;
    }
    if (allowsFiltering) return;
    this.#checkPrefix(restricted);
  }

  #checkPrefix(restricted: ReadonlySet<ColumnSchema>): void {
    [...restricted].forEach((column, at) => {
      const expected = this.#schema.clustering[at] as ColumnSchema;
      if (expected !== column)
        throw invalid(
          `PRIMARY KEY column "${column.name}" cannot be restricted as preceding column "${expected.name}" is not restricted`,
        );
    });
  }

  #needsClusteringFilter(): boolean {
    let position = 0;
    for (const restriction of this.#clustering) {
      if (restriction.kind === 'contains' || firstColumn(restriction).position !== position)
        return true;
      if (restriction.kind !== 'slice') position = lastColumn(restriction).position + 1;
    }
    return false;
  }

  #checkOthers(hasIndex: boolean): void {
    if (this.#others.length === 0) return;
    const { statement, allowsFiltering } = this.#options;
    if (statement !== 'SELECT') {
      const names = this.#others.map((one) => firstColumn(one).name);
      throw invalid(`Non PRIMARY KEY columns found in where clause: ${names.join(', ')} `);
    }
    if (hasIndex) this.#usesIndex = true;
    else if (!allowsFiltering) throw invalid(NEEDS_FILTERING);
  }

  /** An index answers one condition; more need ALLOW FILTERING. */
  #checkFiltering(filtered: readonly Restriction[]): void {
    if (this.#options.allowsFiltering || !(this.#isKeyRange || this.#usesIndex)) return;
    const count = filtered.reduce((sum, { columns }) => sum + columns.length, 0);
    const hasSeveral = this.#others.some(
      (one) => one.kind === 'contains' && one.contained.length > 1,
    );
    if (count > 1 || (count === 0 && this.#clustering.length > 0) || hasSeveral)
      throw invalid(NEEDS_FILTERING);
  }

  #finish(isPartitionFiltered: boolean, isInOnPartition: boolean): Restrictions {
    const filters: Filter[] = [];
    const isKeyed = this.#partition.length > 0 && this.#tokens.length === 0 && !isPartitionFiltered;
    if (!isKeyed)
      for (const restriction of this.#partition) filters.push(this.#filter(restriction));
    const keys = isKeyed
      ? this.#clusteringKeys(filters)
      : { steps: [], lower: undefined, upper: undefined };
    if (!isKeyed) this.#filterClustering(filters);
    for (const restriction of this.#others) filters.push(this.#filter(restriction));
    const all = [...this.#partition, ...this.#clustering, ...this.#others];
    const indexed = all.flatMap((one) => indexConditionOf(one, this.#schema) ?? []);
    return {
      partition: isKeyed ? this.#partition.map(singleValues) : [],
      tokens: this.#tokens,
      ...keys,
      filters,
      indexed: isKeyed ? [] : indexed,
      isInOnPartition,
      isInOnClustering: this.#clustering.some(({ kind }) => kind === 'in'),
      isKeyRange: this.#isKeyRange,
      usesIndex: this.#usesIndex,
      hasClustering: this.#clustering.length > 0,
      hasRegular: this.#others.some((one) => firstColumn(one).kind === 'regular'),
      others: this.#others.flatMap(({ columns }) => columns),
      equalColumns: new Set(
        all
          .filter(({ kind }) => kind === 'eq')
          .flatMap(({ columns }) => columns.map(({ name }) => name)),
      ),
    };
  }

  #filter(restriction: Restriction, isKey = false): Filter {
    return hasIndexFor(restriction, this.#schema)
      ? indexedFilter(restriction, isKey)
      : filterOf(restriction, isKey);
  }

  /** What the keys would answer in each partition is checked row by row; the rest has to be allowed. */
  #filterClustering(filters: Filter[]): void {
    let position = 0;
    for (const restriction of this.#clustering) {
      const isNext =
        restriction.kind !== 'contains' && firstColumn(restriction).position === position;
      filters.push(this.#filter(restriction, isNext));
      position = isNext && restriction.kind !== 'slice' ? lastColumn(restriction).position + 1 : -1;
    }
  }

  /** Steps while columns are equal to something, then a slice; the rest is filtered. */
  #clusteringKeys(filters: Filter[]): Pick<Restrictions, 'steps' | 'lower' | 'upper'> {
    const steps: KeyStep[] = [];
    let lower: Bound | undefined;
    let upper: Bound | undefined;
    let position = 0;
    for (const restriction of this.#clustering) {
      const isNext =
        restriction.kind !== 'contains' &&
        firstColumn(restriction).position === position &&
        lower === undefined &&
        upper === undefined;
      if (!isNext) filters.push(this.#filter(restriction));
      else if (restriction.kind === 'slice') {
        ({ lower, upper } = restriction);
        if (hasMixedOrder(restriction)) filters.push(filterOf(restriction, true));
      } else {
        const { columns, values } = restriction;
        steps.push({ columns: columns.length, isIn: restriction.kind === 'in', values });
        if (hasIndexFor(restriction, this.#schema)) filters.push(this.#filter(restriction, true));
        position = lastColumn(restriction).position + 1;
      }
    }
    return { steps, lower, upper };
  }
}

/** Columns of one slice that are stored in different directions. */
export function hasMixedOrder({ columns }: Pick<Restriction, 'columns'>): boolean {
  return columns.some(({ isDescending }) => isDescending !== columns[0]?.isDescending);
}

function singleValues(restriction: Restriction): InValues {
  if (restriction.kind !== 'eq' && restriction.kind !== 'in') return () => [];
  const { values } = restriction;
  return (call) => values(call).map(([value]) => value as Bytes);
}
