/**
 * The few queries that clients send without their user having written one: whole feeds and look-ups of one property.
 * `SELECT * FROM root r` and `SELECT * FROM root r WHERE r.id = @id`. Everything else is told so.
 */
import { DomainError } from '../../base/index.ts';
import { isList, isMap, type Value, type ValueMap } from '../../value/index.ts';
import type { Call } from './call.ts';
import { parseJsonObject } from './json-body.ts';

export type Matcher = (resource: object) => boolean;

/** Longer texts are none of the simple forms. */
const TEXT_LENGTH_MAX = 4096;

const SIMPLE_QUERY =
  /^\s*select\s+\*\s+from\s+([a-z_]\w*)(?:\s+(?:as\s+)?(?!where\b)([a-z_]\w*))?(?:\s+where\s+([a-z_]\w*)(?:\.(\w+)|\[\s*"(\w+)"\s*\])\s*=\s*(@\w+|"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'))?\s*;?\s*$/i;

/** A query as it stands in a request body. */
interface SentQuery {
  readonly text: string;
  readonly parameters: readonly Value[];
}

export function isQuery(call: Call): boolean {
  return (
    call.isOn('x-ms-documentdb-isquery') ||
    (call.header('content-type')?.startsWith('application/query+json') ?? false)
  );
}

/** Which resources of a feed the query selects. Throws `invalidInput` for queries that are not served. */
export function matchFeedQuery(call: Call): Matcher {
  const query = readQuery(call);
  const match = query.text.length > TEXT_LENGTH_MAX ? null : SIMPLE_QUERY.exec(query.text);
  if (match === null) throw notServed();
  const [, source, alias, subject, dotted, bracketed, operand] = match;
  if (subject === undefined || operand === undefined) return () => true;
  if (subject !== (alias ?? source)) throw notServed();
  const property = (dotted ?? bracketed) as string;
  const wanted = operandValue(operand, query.parameters);
  return (resource) =>
    Object.hasOwn(resource, property) && (resource as ValueMap)[property] === wanted;
}

/** True where the query selects the whole feed. */
export function isWholeFeedQuery(call: Call): boolean {
  const { text } = readQuery(call);
  if (text.length > TEXT_LENGTH_MAX) return false;
  const match = SIMPLE_QUERY.exec(text);
  return match !== null && match[3] === undefined;
}

function readQuery(call: Call): SentQuery {
  const { query, parameters } = parseJsonObject(call.body);
  if (typeof query !== 'string')
    throw new DomainError('invalidInput', "The query body must have a property 'query'.");
  return { text: query, parameters: isList(parameters) ? parameters : [] };
}

function operandValue(operand: string, parameters: readonly Value[]): Value {
  if (operand.startsWith('@')) {
    const parameter = parameters.find((entry) => isMap(entry) && entry.name === operand);
    if (!isMap(parameter)) throw new DomainError('invalidInput', `${operand} is not defined.`);
    return parameter.value;
  }
  const inner = operand.slice(1, -1);
  return inner.includes('\\') ? inner.replace(/\\(.)/g, '$1') : inner;
}

export function notServed(): DomainError {
  return new DomainError(
    'invalidInput',
    'Queries are not served yet: this version answers SELECT * FROM c, and look-ups such as SELECT * FROM r WHERE r.id = @id on databases, containers and offers.',
  );
}
