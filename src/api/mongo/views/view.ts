/** Views: a stored pipeline over a collection or over another view. */
import type { Service } from '../../../service/index.ts';
import {
  type Bson,
  type BsonDocument,
  bsonTypeOf,
  isArray,
  isDocument,
} from '../../../value/index.ts';
import { nameStages } from '../aggregate/pipeline/parse.ts';
import { type Collection, findCollection, isView } from '../collections/collection.ts';
import { type Namespace, namespaceText, parseNamespace } from '../collections/namespace.ts';
import { MongoError } from '../errors.ts';

/** Views on views (documented). */
const DEPTH_MAX = 20;

/** What reading a view needs to know of it. */
export type View = Pick<Collection, 'namespace' | 'options'>;

interface ResolvedView {
  /** The collection at the bottom. */
  readonly namespace: Namespace;
  /** All pipelines, the lowest first. */
  readonly pipeline: readonly Bson[];
}

/** Throws ViewDepthLimitExceeded. */
export function resolveView(service: Service, view: View): ResolvedView {
  let { namespace } = view;
  let current: View | undefined = view;
  let pipeline: readonly Bson[] = [];
  for (let depth = 0; current !== undefined && isView(current); depth++) {
    if (depth >= DEPTH_MAX) throw tooDeep(view.namespace);
    const { options } = current;
    pipeline = [...pipelineOf(options), ...pipeline];
    namespace = { database: namespace.database, collection: options.get('viewOn') as string };
    current = findCollection(service, namespace);
  }
  return { namespace, pipeline };
}

/** Undefined for the simple one; a view does not inherit that of its collection. */
export function viewCollation({ options }: View): BsonDocument | undefined {
  const collation = options.get('collation');
  return isDocument(collation) ? collation : undefined;
}

function pipelineOf(options: BsonDocument): readonly Bson[] {
  const pipeline = options.get('pipeline');
  return isArray(pipeline) ? pipeline.filter((stage) => stage !== null) : [];
}

function tooDeep({ database, collection }: Namespace): MongoError {
  return new MongoError(
    'ViewDepthLimitExceeded',
    `View depth limit exceeded; maximum depth is ${DEPTH_MAX}: ${database}.${collection}`,
  );
}

const WRITING = ['$out', '$merge'];
/** Stages that need no collection. */
const WITHOUT_COLLECTION = ['$currentOp', '$listSessions', '$listLocalSessions', '$documents'];

/** Throws where the pipeline cannot be that of a view. */
export function checkView(service: Service, namespace: Namespace, options: BsonDocument): void {
  const stages = pipelineOf(options);
  const viewOn = options.get('viewOn') as string;
  for (const [at, stage] of stages.entries()) checkStage(stage, at);
  const parsed = stages.filter((stage) => !isUnparsed(stage));
  nameStages(parsed, {});
  for (const stage of parsed) checkInner(stage);
  parseNamespace(namespace.database, viewOn);
  if (viewOn.includes('$'))
    throw new MongoError('InvalidNamespace', `Invalid namespace for a view: ${viewOn}`);
  checkCycle(service, namespace, options);
}

/** Stages that the server answers itself are not parsed with the others. */
function isUnparsed(stage: Bson): boolean {
  return isDocument(stage) && (stage.has('$collStats') || stage.has('$indexStats'));
}

/** Pipelines within a stage must not write either. */
function checkInner(stage: Bson): void {
  if (!isDocument(stage)) return;
  const [[name, argument]] = stage as unknown as readonly [[string, Bson]];
  if (!isDocument(argument)) return;
  const check = (inner: Bson | undefined, place: Parameters<typeof nameStages>[1]): void => {
    if (!isArray(inner)) return;
    for (const each of nameStages(inner, place)) checkInner(new Map([[each.name, each.argument]]));
  };
  if (name === '$lookup') check(argument.get('pipeline'), { isLookup: true });
  if (name === '$unionWith') check(argument.get('pipeline'), { isUnion: true });
  if (name === '$facet') for (const inner of argument.values()) check(inner, { isFacet: true });
}

function checkStage(stage: Bson, at: number): void {
  if (!isDocument(stage))
    throw new MongoError(
      'TypeMismatch',
      `BSON field 'create.pipeline.${at}' is the wrong type '${bsonTypeOf(stage)}', expected type 'object'`,
    );
  const [name = ''] = stage.keys();
  if (WRITING.includes(name))
    throw new MongoError(
      'OptionNotSupportedOnView',
      `The aggregation stage ${name} in view definitions is not allowed`,
    );
  if (name === '$changeStream')
    throw new MongoError(
      'OptionNotSupportedOnView',
      '$changeStream cannot be used in a view definition',
    );
  if (WITHOUT_COLLECTION.includes(name))
    throw new MongoError(
      'InvalidNamespace',
      `${name} must be run against a database, not a collection`,
    );
}

/** The names that a pipeline reads beside its own collection. */
function namesIn(value: Bson, into: Set<string>): void {
  if (isArray(value)) for (const each of value) namesIn(each, into);
  if (!isDocument(value)) return;
  for (const [name, inner] of value) {
    if (name === '$unionWith' && typeof inner === 'string') into.add(inner);
    if (isDocument(inner)) {
      const from = inner.get(name === '$unionWith' ? 'coll' : 'from');
      if (LOOKUPS.has(name) && typeof from === 'string') into.add(from);
    }
    namesIn(inner, into);
  }
}

const LOOKUPS: ReadonlySet<string> = new Set(['$lookup', '$graphLookup', '$unionWith']);

function checkCycle(service: Service, view: Namespace, options: BsonDocument): void {
  const { database } = view;
  const visit = (own: BsonDocument, depth: number): void => {
    if (depth > DEPTH_MAX) throw tooDeep(view);
    const names = new Set<string>([own.get('viewOn') as string]);
    for (const stage of pipelineOf(own)) namesIn(stage, names);
    for (const collection of names) {
      if (collection === view.collection)
        throw new MongoError(
          'GraphContainsCycle',
          `View cycle detected: ${namespaceText(view)} => ${namespaceText(view)}`,
        );
      const next = findCollection(service, { database, collection });
      if (next !== undefined && isView(next)) visit(next.options, depth + 1);
    }
  };
  visit(options, 1);
}
