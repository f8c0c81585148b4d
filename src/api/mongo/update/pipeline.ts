/** Updates by pipeline: `$set`, `$unset`, `$project` and `$replaceWith` under their names, stage after stage. */
import {
  type Bson,
  type BsonDocument,
  bsonTypeOf,
  isArray,
  isDocument,
} from '../../../value/index.ts';
import { compileExpression, type Expression } from '../aggregate/index.ts';
import { MongoError } from '../errors.ts';
import { PIPELINE_STAGES_MAX } from '../limits.ts';
import { parseProjection } from '../query/projection-parser.ts';
import type { QueryContext } from '../query/query-context.ts';

export type ApplyPipeline = (document: BsonDocument) => BsonDocument;

/** A tree of names with the expressions that give their values. */
type Fields = Map<string, Fields | Expression>;

export function parseUpdatePipeline(stages: readonly Bson[], context: QueryContext): ApplyPipeline {
  if (stages.length > PIPELINE_STAGES_MAX)
    throw new MongoError(
      'Location7749501',
      `Pipeline length must be no longer than ${PIPELINE_STAGES_MAX} stages`,
    );
  const steps = stages.map((stage) => parseStage(stage, context));
  return (document) => steps.reduce((current, step) => step(current), document);
}

/** Refuses what is no stage at all: the whole command fails by it, not the statement alone. */
export function checkStages(stages: readonly Bson[]): void {
  for (const stage of stages) {
    const [name] = stageOf(stage);
    if (!UPDATE_STAGES.has(name) && !KNOWN_STAGES.test(name)) throw unrecognized(name);
  }
}

const UPDATE_STAGES: ReadonlySet<string> = new Set([
  ...['$addFields', '$project', '$replaceRoot', '$replaceWith', '$set', '$unset'],
]);

function stageOf(stage: Bson): readonly [string, Bson] {
  if (!isDocument(stage))
    throw new MongoError('TypeMismatch', "Each element of the 'pipeline' array must be an object");
  const [name = ''] = stage.keys();
  if (stage.size !== 1)
    throw new MongoError(
      'Location40323',
      'A pipeline stage specification object must contain exactly one field.',
    );
  return [name, stage.get(name) as Bson];
}

function unrecognized(name: string): MongoError {
  return new MongoError('Location40324', `Unrecognized pipeline stage name: '${name}'`);
}

function parseStage(stage: Bson, context: QueryContext): ApplyPipeline {
  const [name, argument] = stageOf(stage);
  switch (name) {
    case '$set':
    case '$addFields':
      return parseSet(name, argument, context);
    case '$unset':
      return parseUnset(argument, context);
    case '$project': {
      if (!isDocument(argument))
        throw new MongoError('Location15969', '$project specification must be an object');
      if (argument.size === 0)
        throw new MongoError(
          'Location51272',
          'Invalid $project :: caused by :: projection specification must have at least one field',
        );
      return parseProjection(argument, { context }) ?? ((document) => document);
    }
    case '$replaceRoot':
      return parseReplaceRoot(argument, context);
    case '$replaceWith':
      return replaceWith(name, argument, context);
    default:
      if (KNOWN_STAGES.test(name))
        throw new MongoError(
          'InvalidOptions',
          `${name} is not allowed to be used within an update`,
        );
      throw unrecognized(name);
  }
}

const KNOWN_STAGES =
  /^\$(match|group|sort|limit|skip|lookup|unwind|out|merge|facet|bucket|bucketAuto|count|geoNear|graphLookup|indexStats|redact|sample|sortByCount|unionWith|collStats|setWindowFields|densify|fill|documents|changeStream|currentOp|listSessions|planCacheStats)$/;

function parseSet(name: string, argument: Bson, context: QueryContext): ApplyPipeline {
  if (!isDocument(argument))
    throw new MongoError(
      'Location40272',
      `${name} specification stage must be an object, got ${bsonTypeOf(argument)}`,
    );
  if (argument.size === 0) return (document) => document;
  const fields: Fields = new Map();
  for (const [path, value] of argument) addField(fields, path, value, context);
  return (document) => withFields(document, fields, document) as BsonDocument;
}

function addField(fields: Fields, path: string, value: Bson, context: QueryContext): void {
  checkPath(path);
  const steps = path.split('.');
  let node = fields;
  for (const step of steps.slice(0, -1)) {
    const next = node.get(step) ?? new Map();
    if (!(next instanceof Map)) throw conflict(path);
    node.set(step, next);
    node = next;
  }
  const last = steps.at(-1) as string;
  const [first = ''] = isDocument(value) ? value.keys() : ['$'];
  if (isDocument(value) && value.size > 0 && !first.startsWith('$')) {
    const inner = node.get(last) ?? new Map();
    if (!(inner instanceof Map)) throw conflict(path);
    node.set(last, inner);
    for (const [name, each] of value) addField(inner, name, each, context);
    return;
  }
  if (node.has(last)) throw conflict(path);
  node.set(last, compileExpression(value, context.expression));
}

function conflict(path: string): MongoError {
  return new MongoError(
    'Location40176',
    `Invalid $set :: caused by :: specification contains two conflicting paths. Cannot specify both '${path}' and its parent`,
  );
}

function checkPath(path: string): void {
  if (path === '')
    throw new MongoError('Location40352', 'FieldPath cannot be constructed with empty string');
  if (path.endsWith('.'))
    throw new MongoError('Location40353', "FieldPath must not end with a '.'.");
  for (const step of path.split('.')) {
    if (step === '')
      throw new MongoError('Location15998', 'FieldPath field names may not be empty strings.');
    if (step.startsWith('$'))
      throw new MongoError(
        'Location16410',
        "FieldPath field names may not start with '$'. Consider using $getField or $setField.",
      );
  }
}

/** Documents of arrays get the fields too; any other value gives way to a document. */
function withFields(value: Bson | undefined, fields: Fields, root: BsonDocument): Bson {
  if (isArray(value)) return value.map((element) => withFields(element, fields, root));
  const made = new Map<string, Bson>(isDocument(value) ? value : []);
  for (const [name, field] of fields) {
    const result = field instanceof Map ? withFields(made.get(name), field, root) : field(root);
    if (result === undefined) made.delete(name);
    else made.set(name, result);
  }
  return made;
}

function parseUnset(argument: Bson, context: QueryContext): ApplyPipeline {
  if (typeof argument !== 'string' && !isArray(argument))
    throw new MongoError('Location31002', '$unset specification must be a string or an array');
  const names = isArray(argument) ? argument : [argument];
  if (names.length === 0)
    throw new MongoError(
      'Location31119',
      '$unset specification must be a string or an array with at least one field',
    );
  const projection = new Map<string, Bson>();
  for (const name of names) {
    if (typeof name !== 'string')
      throw new MongoError(
        'Location31120',
        '$unset specification must be a string or an array containing only string values',
      );
    projection.set(name, 0);
  }
  return parseProjection(projection, { context }) ?? ((document) => document);
}

function parseReplaceRoot(argument: Bson, context: QueryContext): ApplyPipeline {
  if (!isDocument(argument))
    throw new MongoError(
      'Location40229',
      `expected an object as specification for $replaceRoot stage, got ${bsonTypeOf(argument)}`,
    );
  for (const name of argument.keys())
    if (name !== 'newRoot')
      throw new MongoError(
        'IDLUnknownField',
        `BSON field '$replaceRoot.${name}' is an unknown field.`,
      );
  const newRoot = argument.get('newRoot');
  if (newRoot === undefined)
    throw new MongoError(
      'IDLFailedToParse',
      "BSON field '$replaceRoot.newRoot' is missing but a required field",
    );
  return replaceWith('$replaceRoot', newRoot, context);
}

function replaceWith(name: string, argument: Bson, context: QueryContext): ApplyPipeline {
  const evaluate = compileExpression(argument, context.expression);
  return (document) => {
    const made = evaluate(document);
    if (isDocument(made)) return made;
    throw new MongoError(
      'Location40228',
      `'${name === '$replaceRoot' ? 'newRoot' : 'replacement document'}' expression must evaluate to an object, but resulting value was of type ${made === undefined ? 'missing' : bsonTypeOf(made)}`,
    );
  };
}
