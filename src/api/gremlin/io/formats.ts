/** Formats by their MIME types, as the first bytes of a frame or an argument of the request name them. */
import { readGraphbinaryRequest } from './graphbinary-reader.ts';
import { graphbinaryResponse } from './graphbinary-writer.ts';
import { readGraphsonRequest } from './graphson-reader.ts';
import { GraphsonWriter } from './graphson-writer.ts';
import type { Format } from './message.ts';
import { untypedResponse } from './untyped-writer.ts';

const TYPED_2 = new GraphsonWriter(2);
const TYPED_3 = new GraphsonWriter(3);

const BINARY: Format = {
  readRequest: readGraphbinaryRequest,
  writeResponse: graphbinaryResponse,
};

const GRAPHSON_2: Format = {
  readRequest: readGraphsonRequest,
  writeResponse: (response) => TYPED_2.response(response),
};

const GRAPHSON_3: Format = {
  readRequest: readGraphsonRequest,
  writeResponse: (response) => TYPED_3.response(response),
};

export const UNTYPED: Format = {
  readRequest: readGraphsonRequest,
  writeResponse: untypedResponse,
};

const MIME = /^application\/vnd\.gremlin-v([123])\.0\+json(?:;\s*types=(true|false))?$/;

/** Undefined for a MIME type that is not known. Version 2 is the service's form, unless types are asked for. */
export function formatOf(mime: string): Format | undefined {
  if (mime === 'application/json') return UNTYPED;
  if (mime === 'application/vnd.graphbinary-v1.0') return BINARY;
  const found = MIME.exec(mime);
  if (found === null) return undefined;
  const [, version, types] = found;
  if (version === '1' || types === 'false') return UNTYPED;
  if (version === '2') return types === 'true' ? GRAPHSON_2 : UNTYPED;
  return GRAPHSON_3;
}

/** Results of bytecode are traversers, which the service's form does not have: clients need their type. */
export function formatOfBytecode(format: Format): Format {
  return format === UNTYPED ? GRAPHSON_2 : format;
}
