/** Where the pipelines of a command read and write: the collections of the service. */
import { yieldToEventLoop } from '../../../../query/index.ts';
import { type Bson, type BsonDocument, isDocument } from '../../../../value/index.ts';
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
import { declaredIndexes } from '../../indexes/index-spec.ts';
import { sameCollation } from '../../query/collation.ts';
import { type Filter, refuseNear, refuseWhere } from '../../query/filter.ts';
import { parseFilter } from '../../query/filter-parser.ts';
import { Sort } from '../../query/sort.ts';
import { resolveView, viewCollation } from '../../views/view.ts';
import { compileMatch, splitExpressions } from '../stages/match.ts';
import { parseStageSort } from '../stages/sort.ts';
import type { PipelineHost, StageContext } from '../stages/stage.ts';
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

/** A filter in front is what the collection is searched by. */
function prepared(
  call: Call,
  namespace: Namespace,
  pipeline: readonly Bson[],
  context: StageContext,
): (filter?: BsonDocument) => Rows {
  const target =
    namespace.collection === '' ? undefined : findCollection(call.context.service, namespace);
  const isAboutName = isDocument(pipeline[0]) && pipeline[0].has('$collStats');
  if (target !== undefined && isView(target) && !isAboutName) {
    const view = resolveView(call.context.service, target);
    checkCollation(target, context);
    const run = prepared(call, view.namespace, view.pipeline, context);
    const rest = parseStages(nameStages(pipeline, context), context);
    return (filter) => rest(filter === undefined ? run() : filtered(run(), filter, context));
  }
  const stages = nameStages(pipeline, context);
  if (stages[0]?.definition.isSource === true) {
    const run = parseStages(stages, context);
    return () => run(none());
  }
  const { filter, expression, rest: others } = leadingFilter(stages);
  // Both are parsed before the collection is looked for, so that errors do not depend on it.
  const { compare } = context.expressions;
  const query = { expression: context.expressions };
  const own = parseFilter(filter, query);
  refuseNear(own);
  refuseWhere(own);
  const implied = expression === undefined ? [] : impliedFilters(expression, context.expressions);
  const { sort, rest } = leadingSort(others, context);
  const group = leadingGroup(rest, context);
  const run = parseStages(group?.rest ?? rest, context);
  return (further) => {
    const collection =
      namespace.collection === '' ? undefined : findCollection(call.context.service, namespace);
    if (collection === undefined) return run(none());
    const name = sort === undefined ? (filter.size === 0 ? 'read' : '$match') : '$sort';
    const source = measuredStage(name, (rows) => rows, context);
    const found = implied.map((filterNow) => filterNow()).filter((part) => part !== undefined);
    const parts = further === undefined ? found : [parseFilter(further, query), ...found];
    const all: Filter = parts.length === 0 ? own : { kind: 'and', of: [...parts, own] };
    const { covered } = context;
    if (group !== undefined && sort === undefined && covered === undefined) {
      const folded = foldDocuments(call.store, collection, all, group.start, { compare });
      if (folded !== undefined) return run(measured(group.name, rowsOfFold(folded), context));
    }
    const documents =
      sort === undefined
        ? findDocuments(call.store, collection, all, { compare })
        : sortedDocuments(call.store, collection, all, { compare, memory: call.meter, ...sort });
    const rows = covered === undefined ? documents : matching(documents, covered);
    const read = source(group === undefined ? decoded(rows) : rows);
    return run(group === undefined ? read : measured(group.name, groupOf(read, group), context));
  };
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
  return { sort: { sort: new Sort(parts, expressions.compare), wanted, hint }, rest };
}

type LeadingSort = Pick<SortOptions, 'sort' | 'wanted' | 'hint'>;

/** A collection that does not exist has no documents. */
async function* none(): Rows {}
