/** What a stage is, and what it may use. */
import type { StepMeter } from '../../../../base/index.ts';
import type { Pause } from '../../../../query/index.ts';
import type { Bson, BsonDocument } from '../../../../value/index.ts';
import type { Namespace } from '../../collections/namespace.ts';
import type { Holding } from '../../documents/pieces.ts';
import type { Rows } from '../../documents/rows.ts';
import { MongoError } from '../../errors.ts';
import type { DocumentTest } from '../../query/filter-test.ts';
import type { CompareValues } from '../collated-keys.ts';
import type { ExpressionContext } from '../expressions/scope.ts';

/** A stage after parsing: from a stream of rows to another. */
export type Stage = (rows: Rows) => Rows;

/** Where a pipeline reads and writes. Undefined in pipelines without documents, such as those of updates. */
export interface PipelineHost {
  /** The documents of a collection or a view that pass the pipeline. A collection that does not exist is empty. */
  open(namespace: Namespace, pipeline: readonly Bson[], context: StageContext): Rows;
  /** The same for a pipeline that runs often: each run may add a filter in front. */
  prepare(
    namespace: Namespace,
    pipeline: readonly Bson[],
    context: StageContext,
  ): (filter?: BsonDocument) => Rows;
  /** Documents that describe the server or a collection. */
  describe(
    kind: DescribedKind,
    options: BsonDocument,
    namespace: Namespace,
  ): Promise<readonly BsonDocument[]>;
  /** Lets others go on. Called by stages with much to do; throws where the time is over. */
  readonly yieldToOthers: Pause;
  /** Counts the rows that wait to be read. */
  readonly memory: Holding;
  /** What `$out` and `$merge` write with. */
  readonly writer: PipelineWriter;
  /** Fields with a geospatial index; undefined where there is no collection. */
  geoFields(
    namespace: Namespace,
  ): readonly { readonly field: string; readonly kind: string }[] | undefined;
}

export type DescribedKind =
  | 'clusterCatalog'
  | 'planCacheStats'
  | 'querySettings'
  | 'nothing'
  | 'collStats'
  | 'indexStats'
  | 'currentOp'
  | 'listSessions'
  | 'listCatalog';

export interface PipelineWriter {
  /** Replaces the collection by these documents. */
  replace(namespace: Namespace, rows: Rows, timeseries: BsonDocument | undefined): Promise<void>;
  /** Refuses fields that no unique index has. True where documents may lack them. */
  checkUnique(
    namespace: Namespace,
    fields: readonly string[],
    collation: BsonDocument | undefined,
  ): boolean;
  find(
    namespace: Namespace,
    key: BsonDocument,
    compare: CompareValues,
  ): Promise<BsonDocument | undefined>;
  insert(namespace: Namespace, document: BsonDocument): Promise<void>;
  /**
   * Updates or replaces the document of the key; false where there is none any more.
   * @param existing - set where the update was computed from the document as it was read: it must still be that.
   */
  update(
    namespace: Namespace,
    key: BsonDocument,
    update: BsonDocument,
    existing?: BsonDocument,
  ): Promise<boolean>;
}

export interface StageContext {
  readonly expressions: ExpressionContext;
  /** The collection that the pipeline reads; the name is empty for pipelines of a database. */
  readonly namespace: Namespace;
  /** Pipelines around this one. */
  readonly depth: number;
  /** What the pipeline is within: some stages are refused there. */
  readonly isFacet?: boolean;
  readonly isLookup?: boolean;
  readonly isUnion?: boolean;
  readonly host: PipelineHost;
  /** Set where somebody asked what each stage costs; pipelines within stages count as their stage. */
  readonly meter?: StepMeter | undefined;
  /** How many of the first rows of a sort the stages behind it need. */
  readonly wanted?: number | undefined;
  /** What documents must have to be in the index that the command hints; all are where it is missing. */
  readonly covered?: DocumentTest | undefined;
  /** The hint of the command. */
  readonly hint?: Bson | undefined;
  /** Parses a pipeline within a stage. */
  parse(sent: readonly Bson[], context: StageContext): Stage;
}

/**
 * `database`: a database and no collection, such as `{ aggregate: 1 }` names. `admin`: the one of that name. `sessions`:
 * the list of sessions. `nothing`: as `database`, but whether the stage may stand there is asked first.
 */
export type StageScope = 'database' | 'admin' | 'sessions' | 'nothing';

export interface StageDefinition {
  parse(argument: Bson, context: StageContext, name: string): Stage;
  /** Makes documents of its own, so it must be first; `none` where it may also not name a collection. */
  readonly position?: 'first' | 'last';
  /** True where it does not read the collection. */
  readonly isSource?: boolean;
  /** Where it works alone; anywhere where this is missing. */
  readonly scope?: StageScope;
  /** True where pipelines of `$facet`, or of `$lookup` and `$unionWith`, must not have it. */
  readonly isBannedInFacet?: boolean;
  readonly isBannedInLookup?: boolean;
}

export type StageTable = Readonly<Record<string, StageDefinition>>;

/** Pipelines within pipelines (documented). */
const DEPTH_MAX = 20;

export function nested(context: StageContext, changes: Partial<StageContext> = {}): StageContext {
  if (context.depth >= DEPTH_MAX)
    throw new MongoError(
      'MaxSubPipelineDepthExceeded',
      `Maximum number of nested sub-pipelines exceeded. Limit is ${DEPTH_MAX}`,
    );
  return { ...context, covered: undefined, hint: undefined, depth: context.depth + 1, ...changes };
}
