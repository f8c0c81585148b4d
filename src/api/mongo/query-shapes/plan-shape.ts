/** The shape that a cached plan would have: filter, sort, projection, collation and the stages that are planned. */
import { createHash } from 'node:crypto';
import { type Bson, type BsonDocument, isArray, isDocument } from '../../../value/index.ts';
import { exactText, expressionShape, filterShape } from './filter-shape.ts';

interface PlannedQuery {
  readonly filter: BsonDocument;
  readonly sort: Bson | undefined;
  readonly projection: Bson | undefined;
  readonly collation: Bson | undefined;
  /** The stages behind the filter and the sort of a pipeline. */
  readonly stages: readonly Bson[];
}

/** Stages that MongoDB plans together with the query in front of them. */
const PLANNED: ReadonlySet<string> = new Set([
  '$bucket',
  '$bucketAuto',
  '$count',
  '$densify',
  '$group',
  '$lookup',
  '$project',
  '$replaceRoot',
  '$replaceWith',
  '$setWindowFields',
  '$sort',
  '$sortByCount',
]);

export function planShapeHash(query: PlannedQuery): string {
  const { filter, sort, projection, collation, stages } = query;
  const text = JSON.stringify([
    filterShape(filter, 'plan'),
    isDocument(sort) ? exactText(sort) : '',
    isDocument(projection)
      ? [...projection].map(([name, value]) => `${name}:${exactText(value)}`).sort()
      : '',
    isDocument(collation) ? exactText(collation) : '',
    plannedStages(stages).map(expressionShape),
  ]);
  return createHash('sha256').update(text).digest('hex').slice(0, 8).toUpperCase();
}

/** The first stage that is not planned ends the plan. */
function plannedStages(stages: readonly Bson[]): readonly Bson[] {
  const end = stages.findIndex(
    (stage) => !isDocument(stage) || !PLANNED.has([...stage.keys()][0] ?? ''),
  );
  return end < 0 ? stages : stages.slice(0, end);
}

/** The stages of a pipeline that are neither its filter nor its sort. */
export function laterStages(pipeline: Bson | undefined): readonly Bson[] {
  if (!isArray(pipeline)) return [];
  const has = (stage: Bson | undefined, name: string): boolean =>
    isDocument(stage) && stage.has(name);
  const from = has(pipeline[0], '$match') ? 1 : 0;
  return pipeline.slice(has(pipeline[from], '$sort') ? from + 1 : from);
}
