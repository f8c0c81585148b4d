/** From the pipeline that a client sent to one function of a stream. */
import type { StepMeter } from '../../../../base/index.ts';
import { type Bson, isDocument } from '../../../../value/index.ts';
import { wholeNumber } from '../../bson/arithmetic.ts';
import type { Namespace } from '../../collections/namespace.ts';
import { inPieces } from '../../documents/pieces.ts';
import type { Rows } from '../../documents/rows.ts';
import { MongoError } from '../../errors.ts';
import { PIPELINE_STAGES_MAX } from '../../limits.ts';
import { collectScripted } from '../../scripts/script-calls.ts';
import type { Stage, StageContext, StageDefinition } from '../stages/stage.ts';
import { STAGES } from './stages.ts';

export interface NamedStage {
  readonly name: string;
  readonly argument: Bson;
  readonly definition: StageDefinition;
}

/** Where a pipeline stands in another. */
type Place = Pick<StageContext, 'isFacet' | 'isLookup' | 'isUnion'> &
  Partial<Pick<StageContext, 'namespace'>>;

/** The stages by name; their arguments are not looked at. */
export function nameStages(sent: readonly Bson[], context: Place): readonly NamedStage[] {
  if (sent.length > PIPELINE_STAGES_MAX)
    throw new MongoError(
      'Location7749501',
      `Pipeline length must be no longer than ${PIPELINE_STAGES_MAX} stages.`,
    );
  const stages = withoutIdle(sent.map(nameStage));
  for (const { name, definition } of stages)
    if (definition.scope !== 'nothing') checkScope(name, definition, context.namespace);
  for (const [at, { name, definition }] of stages.entries()) {
    checkPlace(name, definition, context);
    if (definition.position === 'first' && at > 0)
      throw new MongoError(
        name === '$geoNear' ? 'Location40603' : 'Location40602',
        `${name} is only valid as the first stage in a pipeline.`,
      );
    if (definition.position === 'last' && at < stages.length - 1)
      throw new MongoError('Location40601', `${name} can only be the final stage in the pipeline`);
    checkScope(name, definition, context.namespace);
  }
  return stages;
}

/** `$match: {}` before `$geoNear` does nothing, and the search is the first stage. */
function withoutIdle(stages: readonly NamedStage[]): readonly NamedStage[] {
  const at = stages.findIndex(
    ({ name, argument }) => name !== '$match' || !isDocument(argument) || argument.size > 0,
  );
  return at > 0 && stages[at]?.name === '$geoNear' ? stages.slice(at) : stages;
}

/** Stages about a database or the server work on nothing else, wherever they stand. */
function checkScope(
  name: string,
  { scope }: StageDefinition,
  namespace: Namespace | undefined,
): void {
  if (scope === undefined || namespace === undefined) return;
  const { database, collection } = namespace;
  if (scope === 'sessions') {
    if (database === 'config' && collection === 'system.sessions') return;
    throw new MongoError(
      'InvalidNamespace',
      `${name} may only be run against config.system.sessions`,
    );
  }
  if (collection !== '')
    throw new MongoError(
      name === '$listClusterCatalog' ? 'Location9621301' : 'InvalidNamespace',
      `${name} must be run against the database with {aggregate: 1}, not a collection`,
    );
  if (scope === 'admin' && database !== 'admin')
    throw new MongoError(
      'InvalidNamespace',
      `${name} must be run against the 'admin' database with {aggregate: 1}`,
    );
}

/** Pipelines within others must not write, and those of `$facet` must not begin with a source. */
function checkPlace(name: string, definition: StageDefinition, context: Place): void {
  const writes = definition.position === 'last';
  if (context.isLookup === true && (writes || definition.isBannedInLookup === true))
    throw new MongoError('Location51047', `${name} is not allowed within a $lookup's sub-pipeline`);
  if (context.isUnion === true && (writes || definition.isBannedInLookup === true))
    throw new MongoError(
      'Location31441',
      `${name} is not allowed within a $unionWith's sub-pipeline`,
    );
  if (context.isFacet === true && (writes || definition.isBannedInFacet === true))
    throw new MongoError(
      'Location40600',
      `${name} is not allowed to be used within a $facet stage`,
    );
}

function nameStage(sent: Bson): NamedStage {
  if (!isDocument(sent))
    throw new MongoError('TypeMismatch', "Each element of the 'pipeline' array must be an object");
  if (sent.size !== 1)
    throw new MongoError(
      'Location40323',
      'A pipeline stage specification object must contain exactly one field.',
    );
  const [[name, argument]] = sent as unknown as readonly [[string, Bson]];
  const definition = STAGES.get(name);
  if (definition === undefined)
    throw new MongoError('Location40324', `Unrecognized pipeline stage name: '${name}'`);
  return { name, argument, definition };
}

export function parseStages(named: readonly NamedStage[], context: StageContext): Stage {
  const stages = named.map(({ name, argument, definition }, at) => {
    const own =
      name === '$sort' ? { ...context, wanted: rowsWanted(named.slice(at + 1)) } : context;
    const { scripts } = context.expressions;
    const { made: stage, found } = collectScripted(context.expressions, () =>
      definition.parse(argument, own, name),
    );
    const whole: Stage =
      scripts === undefined || found.length === 0
        ? stage
        : (rows) => stage(scripts.prepared(rows, found));
    if (MERGING.has(name)) context.expressions.metadata?.leave();
    const isCut = !PER_DOCUMENT.has(name);
    return measuredStage(name, isCut ? inSmallBatches(whole, context) : whole, context);
  });
  return (rows) => stages.reduce((before: Rows, stage) => stage(before), rows);
}

/** Stages that give no more rows than they take at a time. */
const PER_DOCUMENT: ReadonlySet<string> = new Set([
  ...['$addFields', '$limit', '$match', '$project', '$redact', '$replaceRoot', '$replaceWith'],
  ...['$set', '$skip', '$unset'],
]);

/** Stages that make documents of many others, about which nothing is known. */
const MERGING: ReadonlySet<string> = new Set([
  ...['$bucket', '$bucketAuto', '$count', '$facet', '$group', '$sortByCount'],
]);

function inSmallBatches(stage: Stage, { host }: StageContext): Stage {
  return (rows) => inPieces(stage(rows), { pause: host.yieldToOthers, memory: host.memory });
}

/** The stage itself where nobody asked what it costs. */
export function measuredStage(name: string, stage: Stage, context: StageContext): Stage {
  return isMeasured(context) ? (rows) => measured(name, stage(rows), context) : stage;
}

export function measured(name: string, rows: Rows, context: StageContext): Rows {
  return isMeasured(context) ? (context.meter as StepMeter).measure(name, rows) : rows;
}

function isMeasured({ meter, depth }: StageContext): boolean {
  return meter !== undefined && depth === 0;
}

/** How many rows of a sort the next stages need: `$limit`, maybe after `$skip`. */
export function rowsWanted([next, other]: readonly NamedStage[]): number | undefined {
  if (next?.name === '$limit') return wholeNumber(next.argument);
  if (next?.name !== '$skip' || other?.name !== '$limit') return undefined;
  const [skipped, limit] = [wholeNumber(next.argument), wholeNumber(other.argument)];
  return skipped === undefined || limit === undefined ? undefined : skipped + limit;
}

export function parsePipeline(sent: readonly Bson[], context: StageContext): Stage {
  return parseStages(nameStages(sent, context), context);
}
