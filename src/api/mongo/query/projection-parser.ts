/** A projection document to its form as data. Refusals have MongoDB's codes and words. */
import { type Bson, type BsonDocument, Double, isArray, isDocument } from '../../../value/index.ts';
import { compileExpression, type Expression } from '../aggregate/index.ts';
import { doubleOf, isNumber, wholeNumber } from '../bson/arithmetic.ts';
import { MongoError } from '../errors.ts';
import { type Filter, textOf } from './filter.ts';
import { parseFilter } from './filter-parser.ts';
import { compileFilter } from './filter-test.ts';
import { matchedIndex } from './positional.ts';
import {
  applyProjection,
  type Positional,
  type Project,
  type ProjectionLeaf,
  type ProjectionNode,
} from './projection.ts';
import { PLAIN_CONTEXT, type QueryContext } from './query-context.ts';
import type { Sort } from './sort.ts';

interface ProjectionOptions {
  readonly context?: QueryContext;
  /** The filter of the command: what `$` and `$meta` are about. */
  readonly filter?: Filter;
  readonly sort?: Sort;
}

/** Undefined where the projection keeps every document as it is. */
export function parseProjection(
  projection: BsonDocument,
  options: ProjectionOptions = {},
): Project | undefined {
  return projection.size === 0 ? undefined : new ProjectionParser(options).parse(projection);
}

type Mode = 'include' | 'exclude';

class ProjectionParser {
  readonly #options: ProjectionOptions;
  readonly #context: QueryContext;
  readonly #root: ProjectionNode = new Map();
  #mode: Mode | undefined;
  #id: Mode | undefined;
  #positional: Positional | undefined;
  #hasElemMatch = false;
  #hasOther = false;

  constructor(options: ProjectionOptions) {
    this.#options = options;
    this.#context = options.context ?? PLAIN_CONTEXT;
  }

  parse(projection: BsonDocument): Project | undefined {
    for (const [name, value] of projection) this.#field(name, value, '');
    const ofOthers = this.#hasOther ? 'exclude' : (this.#id ?? 'exclude');
    const mode = this.#mode ?? (this.#hasElemMatch ? 'include' : ofOthers);
    const root = this.#root;
    if (mode === 'include') {
      if (this.#id !== 'exclude' && !root.has('_id')) root.set('_id', { kind: 'include' });
    } else if (this.#id === 'exclude') root.set('_id', { kind: 'exclude' });
    if (root.size === 0) return undefined;
    return applyProjection({ root, isInclusion: mode === 'include', positional: this.#positional });
  }

  #field(name: string, value: Bson, prefix: string): void {
    if (prefix === '' && (name.endsWith('.$') || name.includes('.$.') || name === '$')) {
      this.#positionalField(name, value);
      return;
    }
    const path = prefix === '' ? name : `${prefix}.${name}`;
    checkPath(name);
    if (typeof value === 'boolean' || isNumber(value)) {
      const mode =
        value === false || (isNumber(value) && doubleOf(value) === 0) ? 'exclude' : 'include';
      this.#plain(path, mode);
    } else if (isDocument(value)) this.#document(path, value);
    else this.#computed(path, value);
  }

  #plain(path: string, mode: Mode): void {
    if (path === '_id') {
      this.#id = mode;
      if (mode === 'include') {
        if (this.#mode === undefined) this.#pendingId = true;
        return;
      }
      return;
    }
    this.#choose(path, mode);
    this.#add(path, { kind: mode });
  }

  #pendingId = false;

  #choose(path: string, mode: Mode): void {
    const before = this.#mode ?? (this.#pendingId ? 'include' : undefined);
    if (before !== undefined && before !== mode) throw mixed(path, before);
    this.#mode ??= mode;
  }

  #document(path: string, value: BsonDocument): void {
    if (value.size === 0)
      throw new MongoError(
        'Location51270',
        `An empty sub-projection is not a valid value. Found empty object at path ${path}`,
      );
    const [first] = value.keys();
    if (first?.startsWith('$') === true) {
      this.#operator(path, first, value);
      return;
    }
    for (const [name, inner] of value) {
      if (name.includes('.'))
        throw new MongoError(
          'Location40183',
          `FieldPath field names may not contain '.' in a sub-projection: ${name}`,
        );
      this.#field(name, inner, path);
    }
  }

  #operator(path: string, name: string, value: BsonDocument): void {
    const argument = value.get(name) as Bson;
    if (value.size > 1 && (name === '$slice' || name === '$elemMatch' || name === '$meta'))
      throw new MongoError(
        'Location16410',
        `FieldPath field names may not start with '$'. Consider using $getField or $setField: ${path}`,
      );
    if (name === '$slice') {
      const leaf = parseSlice(argument);
      if (leaf !== undefined) {
        this.#hasOther = true;
        this.#add(path, leaf);
        return;
      }
    }
    if (name === '$elemMatch') {
      this.#elemMatch(path, argument);
      return;
    }
    if (name === '$meta') {
      this.#hasOther = true;
      this.#add(path, { kind: 'computed', evaluate: this.#meta(argument) });
      return;
    }
    this.#computed(path, value);
  }

  #elemMatch(path: string, argument: Bson): void {
    if (!isDocument(argument))
      throw new MongoError(
        'Location31274',
        `elemMatch: Invalid argument, object required, but got ${typeof argument}`,
      );
    if (this.#positional !== undefined)
      throw new MongoError('Location31255', 'Cannot specify positional operator and $elemMatch.');
    if (path.includes('.'))
      throw new MongoError('Location31275', 'Cannot use $elemMatch projection on a nested field.');
    this.#hasElemMatch = true;
    const sent = new Map([['v', new Map([['$elemMatch', argument]])]]);
    const filter = parseFilter(sent, this.#context);
    const test = compileFilter(filter, this.#context.collation?.compare);
    this.#add(path, { kind: 'elemMatch', test });
  }

  #computed(path: string, value: Bson): void {
    if (this.#mode === 'exclude')
      throw new MongoError(
        isDocument(value) ? 'Location31252' : 'Location31310',
        `Cannot use expression other than $meta in exclusion projection: ${path}`,
      );
    this.#mode = 'include';
    this.#add(path, { kind: 'computed', evaluate: this.#compile(value) });
  }

  #compile(value: Bson): Expression {
    try {
      return compileExpression(value, this.#context.expression);
    } catch (error) {
      const [first = ''] = isDocument(value) ? value.keys() : [];
      if (
        error instanceof MongoError &&
        error.mongoCode === 'InvalidPipelineOperator' &&
        error.message.includes(`'${first}'`)
      )
        throw new MongoError('Location31325', `Unknown expression ${first}`);
      throw error;
    }
  }

  #meta(argument: Bson): Expression {
    const { filter, sort } = this.#options;
    const text = filter === undefined ? undefined : textOf(filter);
    if (argument === 'textScore' && text !== undefined)
      return (document) => new Double(text.score(document) ?? 0);
    if (argument === 'sortKey') {
      if (sort === undefined || sort.isEmpty)
        throw new MongoError('BadValue', 'cannot use sortKey $meta projection without a sort');
      return (document) => sort.keyOf(document).map((part) => part ?? null);
    }
    return this.#compile(new Map([['$meta', argument]]));
  }

  #positionalField(name: string, value: Bson): void {
    if (name === '$') checkPath(name);
    const path = name.slice(0, -2);
    const isPlain = typeof value === 'boolean' || isNumber(value);
    if (!name.endsWith('.$') || path.includes('.$') || path === '')
      throw new MongoError(
        'Location31394',
        "As of 4.4, it's illegal to specify positional operator in the middle of a path. Positional projection may only be used at the end",
      );
    if (!isPlain)
      throw new MongoError(
        isDocument(value) ? 'Location31271' : 'Location31308',
        'positional projection cannot be used with a literal or an expression',
      );
    if (value === false || (isNumber(value) && doubleOf(value) === 0))
      throw new MongoError('Location31395', `positional projection cannot be used with exclusion`);
    if (this.#positional !== undefined)
      throw new MongoError(
        'Location31276',
        'Cannot specify more than one positional projection per query.',
      );
    if (this.#hasElemMatch)
      throw new MongoError('Location31256', 'Cannot specify positional operator and $elemMatch.');
    checkPath(path);
    this.#choose(path, 'include');
    this.#add(path, { kind: 'include' });
    const { filter } = this.#options;
    const compare = this.#context.collation?.compare;
    const steps = path.split('.');
    this.#positional = {
      path: steps,
      indexIn: (document) =>
        filter === undefined ? undefined : matchedIndex(filter, document, path, compare),
    };
  }

  #add(path: string, leaf: ProjectionLeaf): void {
    const steps = path.split('.');
    let node = this.#root;
    for (const [at, step] of steps.entries()) {
      const child = node.get(step);
      if (at === steps.length - 1) {
        if (child instanceof Map)
          throw new MongoError('Location31250', `Path collision at ${path}`);
        if (child !== undefined) throw new MongoError('Location31250', `Path collision at ${path}`);
        node.set(step, leaf);
      } else if (child === undefined) {
        const next: ProjectionNode = new Map();
        node.set(step, next);
        node = next;
      } else if (child instanceof Map) node = child;
      else
        throw new MongoError(
          'Location31249',
          `Path collision at ${path} remaining portion ${steps.slice(at + 1).join('.')}`,
        );
    }
  }
}

function mixed(name: string, mode: Mode): MongoError {
  return mode === 'include'
    ? new MongoError(
        'Location31254',
        `Cannot do exclusion on field ${name} in inclusion projection`,
      )
    : new MongoError(
        'Location31253',
        `Cannot do inclusion on field ${name} in exclusion projection`,
      );
}

function checkPath(name: string): void {
  if (name === '')
    throw new MongoError('Location40352', 'FieldPath cannot be constructed with empty string');
  if (name.endsWith('.'))
    throw new MongoError('Location40353', "FieldPath must not end with a '.'.");
  for (const step of name.split('.')) {
    if (step === '')
      throw new MongoError('Location15998', 'FieldPath field names may not be empty strings.');
    if (step.startsWith('$') && step !== '$ref' && step !== '$id' && step !== '$db')
      throw new MongoError(
        'Location16410',
        `FieldPath field names may not start with '$'. Consider using $getField or $setField.`,
      );
  }
}

/** The older slice of a find; undefined where the argument is that of the expression `$slice`. */
function parseSlice(value: Bson): ProjectionLeaf | undefined {
  if (isNumber(value)) {
    const limit = clamped(value);
    return limit < 0
      ? { kind: 'slice', skip: limit, limit: -limit }
      : { kind: 'slice', skip: 0, limit };
  }
  if (!isArray(value))
    throw new MongoError(
      'Location28667',
      `Invalid $slice syntax. The given syntax did not match the find() syntax because :: Location31273: $slice only supports numbers and [skip, limit] arrays`,
    );
  if (value.length !== 2 || !isNumber(value[0]) || !isNumber(value[1])) {
    if (value.length < 2 || value.length > 3)
      throw new MongoError(
        'Location28667',
        'Invalid $slice syntax: $slice array argument should be of form [skip, limit]',
      );
    return undefined;
  }
  const [skip, limit] = [clamped(value[0] as Bson), clamped(value[1] as Bson)];
  if (limit <= 0)
    throw new MongoError(
      'Location28724',
      `Invalid $slice syntax: First argument to $slice must be an array, but is of type: int`,
    );
  return { kind: 'slice', skip, limit };
}

const INT_MAX = 2 ** 31 - 1;

/** A number as an int32: without its fraction, and within its range. */
function clamped(value: Bson): number {
  const whole = wholeNumber(value) ?? Math.trunc(doubleOf(value));
  return Number.isNaN(whole) ? 0 : Math.max(-INT_MAX, Math.min(INT_MAX, whole));
}
