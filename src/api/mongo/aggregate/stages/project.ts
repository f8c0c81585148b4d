/** `$project`: includes, excludes or computes fields, never includes and excludes at once but for `_id`. */
import { type Bson, type BsonDocument, isArray, isDocument } from '../../../../value/index.ts';
import { doubleOf, isNumber } from '../../bson/arithmetic.ts';
import { MongoError } from '../../errors.ts';
import { isOperator, rootScope } from '../expressions/compile.ts';
import { parseFieldPath } from '../expressions/field-path.ts';
import type { ExpressionContext, Frame, Scope } from '../expressions/scope.ts';
import { compute, excluded, FieldTree, included, type Leaf } from './field-tree.ts';

type Project = (document: BsonDocument) => BsonDocument;

interface Field {
  readonly path: string;
  readonly leaf: Leaf;
  /** A value that is no operator has another code in an exclusion. */
  readonly isOperator: boolean;
  /** What is known about a document goes with an exclusion too. */
  readonly isMeta?: boolean;
}

export function compileProject(argument: Bson, context: ExpressionContext): Project {
  if (!isDocument(argument))
    throw new MongoError('Location15969', '$project specification must be an object');
  if (argument.size === 0)
    throw new MongoError(
      'Location51272',
      'Invalid $project :: caused by :: projection specification must have at least one field',
    );
  const fields: Field[] = [];
  collect(argument, '', fields, rootScope(context));
  const isExclusion = checkMode(fields);
  const tree = new FieldTree();
  const added = new FieldTree();
  for (const { path, leaf } of fields)
    if (isExclusion === (leaf.kind === 'exclude')) tree.add(path, leaf, collision);
    else if (isExclusion) added.add(path, leaf, collision);
  if (isExclusion)
    return (document) => {
      const kept = excluded(document, tree);
      if (added.computes) compute(kept, added, [document]);
      return kept;
    };
  if (!fields.some(({ path }) => path === '_id' || path.startsWith('_id.')))
    tree.children.set('_id', { kind: 'include' });
  const frame: Frame = [];
  return (document) => {
    frame[0] = document;
    return included(document, tree, frame);
  };
}

function collision(path: string, isParentAfterChild: boolean): MongoError {
  return isParentAfterChild
    ? new MongoError('Location31250', `Invalid $project :: caused by :: Path collision at ${path}`)
    : new MongoError(
        'Location31249',
        `Invalid $project :: caused by :: Path collision at ${path} remaining portion`,
      );
}

function collect(sent: BsonDocument, prefix: string, fields: Field[], scope: Scope): void {
  for (const [name, value] of sent) {
    const path = prefix + name;
    if (name.startsWith('$') && prefix !== '')
      throw new MongoError(
        'Location16410',
        "Invalid $project :: caused by :: FieldPath field names may not start with '$'.",
      );
    if (name.endsWith('.$'))
      throw new MongoError(
        'Location31324',
        'Invalid $project :: caused by :: Cannot use positional projection in aggregation projection',
      );
    parseFieldPath(path);
    if (typeof value === 'boolean')
      fields.push({ path, leaf: { kind: value ? 'include' : 'exclude' }, isOperator: false });
    else if (isNumber(value))
      fields.push({
        path,
        leaf: { kind: doubleOf(value) === 0 ? 'exclude' : 'include' },
        isOperator: false,
      });
    else if (isDocument(value) && !isExpression(value)) {
      if (value.size === 0)
        throw new MongoError(
          'Location51270',
          `Invalid $project :: caused by :: An empty sub-projection is not a valid value. Found empty object at path ${path}`,
        );
      collect(value, `${path}.`, fields, scope);
    } else fields.push(computed(path, value, scope));
  }
}

/** Beside an operator nothing else may stand. */
function isExpression(value: BsonDocument): boolean {
  const names = [...value.keys()];
  if (value.size > 1 && names.some((name) => name.startsWith('$')))
    throw new MongoError(
      'Location16410',
      "Invalid $project :: caused by :: FieldPath field names may not start with '$'.",
    );
  return names[0]?.startsWith('$') === true;
}

function computed(path: string, value: Bson, scope: Scope): Field {
  if (isDocument(value)) {
    const [first] = value.keys();
    if (value.size === 1 && !isOperator(first as string))
      throw new MongoError(
        first === '$elemMatch' ? 'InvalidPipelineOperator' : 'Location31325',
        `Invalid $project :: caused by :: Unknown expression ${first}`,
      );
  }
  return {
    path,
    leaf: { kind: 'compute', evaluate: scope.compile(value) },
    isOperator: isDocument(value),
    isMeta: isDocument(value) && value.has('$meta'),
  };
}

/** True for an exclusion. `_id` counts only where nothing else says what it is. */
function checkMode(fields: readonly Field[]): boolean {
  let isExclusion: boolean | undefined;
  for (const { path, leaf, isOperator: isOperation, isMeta } of fields) {
    if (isMeta === true) continue;
    if (path === '_id' && leaf.kind !== 'compute') continue;
    const excludes = leaf.kind === 'exclude';
    if (isExclusion === undefined) isExclusion = excludes;
    else if (isExclusion !== excludes) throw mixed(path, leaf, isOperation);
  }
  if (isExclusion !== undefined) return isExclusion;
  return fields.every(({ leaf, isMeta }) => leaf.kind === 'exclude' && isMeta !== true);
}

function mixed(path: string, leaf: Leaf, isOperation: boolean): MongoError {
  if (leaf.kind === 'exclude')
    return new MongoError(
      'Location31254',
      `Invalid $project :: caused by :: Cannot do exclusion on field ${path} in inclusion projection`,
    );
  if (leaf.kind === 'include')
    return new MongoError(
      'Location31253',
      `Invalid $project :: caused by :: Cannot do inclusion on field ${path} in exclusion projection`,
    );
  return isOperation
    ? new MongoError(
        'Location31252',
        'Invalid $project :: caused by :: Cannot use expression other than $meta in exclusion projection',
      )
    : new MongoError(
        'Location31310',
        `Invalid $project :: caused by :: Cannot use an expression ${path} in an exclusion projection`,
      );
}

/** `$unset`: the names of fields, as an exclusion. */
export function compileUnset(argument: Bson): Project {
  if (typeof argument !== 'string' && !isArray(argument))
    throw new MongoError('Location31002', '$unset specification must be a string or an array');
  if (isArray(argument) && argument.length === 0)
    throw new MongoError(
      'Location31119',
      '$unset specification must be a string or an array with at least one field',
    );
  const names = isArray(argument) ? argument : [argument];
  if (!names.every((name) => typeof name === 'string'))
    throw new MongoError(
      'Location31120',
      '$unset specification must be a string or an array containing only string values',
    );
  if (names.some((name) => name.includes('\0')))
    throw new MongoError('Location9527900', 'The names of $unset must not have null bytes');
  const tree = new FieldTree();
  for (const [at, name] of names.entries()) {
    if (names.indexOf(name) < at) throw collision(name, true);
    tree.add(name, { kind: 'exclude' }, collision);
  }
  return (document) => excluded(document, tree);
}
