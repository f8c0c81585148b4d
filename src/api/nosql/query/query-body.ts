/** The query of a request: `{"query": text, "parameters": [{"name": "@x", "value": …}]}`. */
import { DomainError } from '../../../base/index.ts';
import { isList, isMap, type Value } from '../../../value/index.ts';
import type { Call } from '../call.ts';
import { parseJsonObject } from '../items/json-body.ts';
import type { QueryParameter } from '../sql/index.ts';

export interface RequestQuery {
  readonly text: string;
  readonly parameters: readonly QueryParameter[];
}

const PARAMETER_NAME = /^@[\p{L}_][\p{L}\p{N}_]*$/u;

/** Parameters of one query; generated queries stay far below. */
const PARAMETERS_MAX = 20_000;

/** Throws `invalidInput` for a body that holds no query. */
export function readQuery(call: Call): RequestQuery {
  return toQuery(parseJsonObject(call.body));
}

export function toQuery({ query, parameters }: { readonly [name: string]: Value }): RequestQuery {
  if (typeof query !== 'string')
    throw new DomainError(
      'invalidInput',
      "The query body is not valid: it must have a property 'query' that is a string.",
    );
  return { text: query, parameters: toParameters(parameters) };
}

function toParameters(sent: Value): readonly QueryParameter[] {
  if (sent === undefined || sent === null) return [];
  if (!isList(sent) || sent.length > PARAMETERS_MAX) throw invalidParameters();
  return sent.map((entry) => {
    if (!isMap(entry)) throw invalidParameters();
    const { name, value } = entry;
    if (typeof name !== 'string' || !PARAMETER_NAME.test(name)) throw invalidParameters();
    return { name, value };
  });
}

function invalidParameters(): DomainError {
  return new DomainError(
    'invalidInput',
    "The query body is not valid: 'parameters' must be an array of objects with a 'name' such as @id and a 'value'.",
  );
}
