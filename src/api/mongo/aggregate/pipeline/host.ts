/** Where the pipelines of a command read and write: the collections of the service. */
import { yieldToEventLoop } from '../../../../query/index.ts';
import { type Bson, type BsonDocument, isArray, isDocument } from '../../../../value/index.ts';
import type { Call } from '../../call.ts';
import { type Collection, findCollection, isView } from '../../collections/collection.ts';
import { type Namespace, namespaceText } from '../../collections/namespace.ts';
import {
  findDocuments,
  foldDocuments,
  rowsOfFold,
  type SortOptions,
  sortedDocuments,
} from '../../documents/find-documents.ts';
import { decoded, matching, type Rows } from '../../documents/rows.ts';
import { MongoError } from '../../errors.ts';
import { chosenIndex } from '../../indexes/chosen-index.ts';
import { hintedOrder } from '../../indexes/hinted-order.ts';
import { declaredIndexes } from '../../indexes/index-spec.ts';
import { withFound } from '../../metadata/found-metadata.ts';
import { indexKeyReader } from '../../metadata/index-key.ts';
import { MetadataScope } from '../../metadata/metadata-scope.ts';
import { sameCollation } from '../../query/collation.ts';
import { type Filter, refuseNear, refuseWhere, textOf } from '../../query/filter.ts';
import { parseFilter } from '../../query/filter-parser.ts';
import { Sort } from '../../query/sort.ts';
import { resolveView, viewCollation } from '../../views/view.ts';
import { compileMatch, splitExpressions } from '../stages/match.ts';
import { parseStageSort } from '../stages/sort.ts';
import type { PipelineHost, Stage, StageContext } from '../stages/stage.ts';
import { describe } from './describe.ts';
import { impliedFilters } from './implied-filter.ts';
import { groupOf, leadingGroup } from './leading-group.ts';
import {
  measured,
  measuredStage,
  type NamedStage,
  nameStages,
  parseStages,
  rowsWanted,
} from './parse.ts';
import { pipelineWriter } from './writer.ts';

export function pipelineHost(call: Call): PipelineHost {
  const prepare: PipelineHost['prepare'] = (namespace, pipeline, context) =>
    prepared(call, namespace, pipeline, context);
  return {
    prepare,
    open: (namespace, pipeline, context) => prepare(namespace, pipeline, context)(),
    geoFields: (namespace) => geoFields(findCollection(call.context.service, namespace)),
    describe: (kind, options, namespace) => describe(call, kind, options, namespace),
    yieldToOthers: () => {
      call.meter.check();
      return yieldToEventLoop();
    },
    memory: call.meter,
    writer: pipelineWriter(call),
  };
}

function geoFields(collection: Collection | undefined): ReturnType<PipelineHost['geoFields']> {
  if (collection === undefined) return undefined;
  return declaredIndexes(collection).flatMap(({ key, spec }) =>
    [...(spec.get('hidden') === true ? [] : key)].flatMap(([field, kind]) =>
      kind === '2d' || kind === '2dsphere' ? [{ field, kind: String(kind) }] : [],
    ),
  );
}

/**
 * A filter in front is what the collection is searched by.
 * @param metadata - that of the pipeline around a view.
 */
function prepared(
  call: Call,
  namespace: Namespace,
  pipeline: readonly Bson[],
  outer: StageContext,
  metadata?: MetadataScope,
): (filter?: BsonDocument) => Rows {
  const target =
    namespace.collection === '' ? undefined : findCollection(call.context.service, namespace);
  const isAboutName = isDocument(pipeline[0]) && pipeline[0].has('$collStats');
  if (target !== undefined && isView(target) && !isAboutName) {
    const view = resolveView(call.context.service, target);
    const context = withScope(outer, metadata ?? scopeOf(view.pipeline));
    checkCollation(target, context);
    const { metadata: own } = context.expressions;
    const run = prepared(call, view.namespace, view.pipeline, context, own);
    const rest = parseStages(nameStages(pipeline, context), context);
    return (filter) => rest(filter === undefined ? run() : filtered(run(), filter, context));
  }
  const context = withScope(outer, metadata ?? scopeOf(pipeline));
  const stages = nameStages(pipeline, context);
  if (stages[0]?.definition.isSource === true) {
    const run = parseStages(stages, context);
    return () => run(none());
  }
  return preparedRead(call, namespace, stages, context);
}

function preparedRead(
  call: Call,
  namespace: Namespace,
  stages: readonly NamedStage[],
  context: StageContext,
): (filter?: BsonDocument) => Rows {
  const { filter, expression, rest: others } = leadingFilter(stages);
  // Both are parsed before the collection is looked for, so that errors do not depend on it.
  const { compare, metadata } = context.expressions;
  const query = { expression: context.expressions };
  const own = parseFilter(filter, query);
  refuseNear(own);
  refuseWhere(own);
  const implied = expression === undefined ? [] : impliedFilters(expression, context.expressions);
  const { sort, rest } = leadingSort(others, own, context);
  const { group, run } = withoutGroup(rest, context);
  return (further) => {
    const collection =
      namespace.collection === '' ? undefined : findCollection(call.context.service, namespace);
    if (collection === undefined) return run(none());
    const name = sort === undefined ? (filter.size === 0 ? 'read' : '$match') : '$sort';
    const source = measuredStage(name, (rows) => rows, context);
    const found = implied.map((filterNow) => filterNow()).filter((part) => part !== undefined);
    const parts = further === undefined ? found : [parseFilter(further, query), ...found];
    const all: Filter = parts.length === 0 ? own : { kind: 'and', of: [...parts, own] };
    const { covered, hint } = context;
    const order =
      sort ?? (group?.isOrderFree === true ? undefined : scanOrder(collection, rest, context));
    if (group !== undefined && order === undefined && covered === undefined) {
      const folded = foldDocuments(call.store, collection, all, group.start, { compare, hint });
      if (folded !== undefined) return run(measured(group.name, rowsOfFold(folded), context));
    }
    const documents =
      order === undefined
        ? findDocuments(call.store, collection, all, { compare, hint })
        : sortedDocuments(call.store, collection, all, {
            ...{ compare, memory: call.meter, keepsRows: metadata?.wants() },
            ...order,
          });
    const rows = covered === undefined ? documents : matching(documents, covered);
    if (group !== undefined)
      return run(measured(group.name, groupOf(source(rows), group), context));
    return run(source(known(rows, all, { collection, context, sort: sort?.sort })));
  };
}

/** A group that begins the rest is folded by itself, unless it looks at metadata, which folds have not. */
function withoutGroup(
  rest: readonly NamedStage[],
  context: StageContext,
): { readonly group: ReturnType<typeof leadingGroup>; readonly run: Stage } {
  const { metadata } = context.expressions;
  const group = leadingGroup(rest, withScope(context, metadata?.branch()));
  if (group === undefined || metadata?.wants() === true)
    return { group: undefined, run: parseStages(rest, context) };
  metadata?.leave();
  return { group, run: parseStages(group.rest, context) };
}

function withScope(context: StageContext, metadata: MetadataScope | undefined): StageContext {
  return { ...context, expressions: { ...context.expressions, metadata } };
}

/** What the first stage finds documents by. */
function scopeOf([first]: readonly Bson[]): MetadataScope {
  if (!isDocument(first)) return new MetadataScope([]);
  if (first.has('$geoNear')) return new MetadataScope(['geoNearDistance', 'geoNearPoint']);
  return new MetadataScope(asksForText(first.get('$match')) ? ['textScore'] : []);
}

function asksForText(filter: Bson | undefined): boolean {
  if (isArray(filter)) return filter.some(asksForText);
  if (!isDocument(filter)) return false;
  return filter.has('$text') || asksForText(filter.get('$and')) || asksForText(filter.get('$or'));
}

interface Found {
  readonly collection: Collection;
  readonly context: StageContext;
  /** The order that the pipeline asks for. */
  readonly sort: Sort | undefined;
}

/** Documents with what is known of them, where a stage asks for it. */
function known(rows: Rows, filter: Filter, { collection, context, sort }: Found): Rows {
  const { metadata, compare } = context.expressions;
  if (metadata?.wants() !== true) return decoded(rows);
  const options = { compare, hint: context.hint, sort };
  const index = metadata.wants('indexKey') ? chosenIndex(collection, filter, options) : undefined;
  return withFound(rows, {
    text: textOf(filter),
    sort,
    indexKeyOf: index && indexKeyReader(index.key, filter),
  });
}

/** The order of the hinted index; documents may come in any other where memory does not suffice for it. */
function scanOrder(
  collection: Collection,
  rest: readonly NamedStage[],
  { hint, covered }: StageContext,
): LeadingSort | undefined {
  const sort = hintedOrder(collection, hint);
  const all = Number.POSITIVE_INFINITY;
  const wanted = covered === undefined ? (rowsWanted(rest) ?? all) : all;
  return sort && { sort, wanted, hint, isOptional: true };
}

/** A pipeline compares in one way from end to end. */
function checkCollation(view: Collection, { expressions }: StageContext): void {
  if (sameCollation(viewCollation(view), expressions.collation)) return;
  throw new MongoError(
    'OptionNotSupportedOnView',
    `Cannot override a view's default collation${namespaceText(view.namespace)}`,
  );
}

function filtered(rows: Rows, filter: BsonDocument, { expressions }: StageContext): Rows {
  return matching(rows, compileMatch(filter, expressions));
}

/** The filter that the first stage is; `$expr` stays a stage. */
function leadingFilter(stages: readonly NamedStage[]): {
  readonly filter: BsonDocument;
  readonly expression?: Bson | undefined;
  readonly rest: readonly NamedStage[];
} {
  const [first, ...others] = stages;
  if (first?.name !== '$match' || !isDocument(first.argument))
    return { filter: new Map(), rest: stages };
  const { filter, expressions } = splitExpressions(first.argument);
  if (expressions.length === 0) return { filter, rest: others };
  const left = { ...first, argument: new Map([['$expr', expressions[0] as Bson]]) };
  return { filter, expression: expressions[0], rest: [left, ...others] };
}

/** The sort that comes next: an index may have its order. */
function leadingSort(
  stages: readonly NamedStage[],
  filter: Filter,
  context: StageContext,
): { readonly sort: LeadingSort | undefined; readonly rest: readonly NamedStage[] } {
  const [first, ...rest] = stages;
  if (first?.name !== '$sort' || !isDocument(first.argument))
    return { sort: undefined, rest: stages };
  const { expressions, covered, hint } = context;
  const parts = parseStageSort(first.argument, expressions);
  if (parts.length < first.argument.size) return { sort: undefined, rest: stages };
  const all = Number.POSITIVE_INFINITY;
  const wanted = covered === undefined ? (rowsWanted(rest) ?? all) : all;
  const sort = new Sort(parts, expressions.compare, textOf(filter));
  return { sort: { sort, wanted, hint }, rest };
}

type LeadingSort = Pick<SortOptions, 'sort' | 'wanted' | 'hint' | 'isOptional'>;

/** A collection that does not exist has no documents. */
async function* none(): Rows {}
