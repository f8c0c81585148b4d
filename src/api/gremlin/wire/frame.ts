/** The frames of clients: a MIME type and a body, or in a text frame a body alone. */
import { CODES, malformedRequest } from '../errors.ts';
import { formatOf, formatOfBytecode, UNTYPED } from '../io/formats.ts';
import type { Format, GremlinRequest } from '../io/message.ts';

export interface ReceivedRequest {
  readonly request: GremlinRequest;
  /** The format of the responses. */
  readonly format: Format;
  /** Size of the frame. */
  readonly bytes: number;
}

/** The format that a frame names; the bytes behind its name are the body. */
function formatOfFrame(frame: Buffer): { readonly format: Format; readonly body: Buffer } {
  const length = frame[0] ?? 0;
  const mime = frame.toString('latin1', 1, 1 + length);
  const format = formatOf(mime);
  if (format === undefined)
    throw malformedRequest(`Mime type ${JSON.stringify(mime.slice(0, 100))} is not supported.`);
  return { format, body: frame.subarray(1 + length) };
}

/** Throws a GremlinError for what is no request. */
export function readFrame(frame: Buffer, isBinary: boolean): ReceivedRequest {
  const { format, body } = isBinary ? formatOfFrame(frame) : { format: UNTYPED, body: frame };
  const request = format.readRequest(body);
  return { request, format: responseFormat(request, format), bytes: frame.length };
}

function responseFormat({ op, args }: GremlinRequest, format: Format): Format {
  const accept = args.get('accept');
  let accepted: Format | undefined = format;
  if (typeof accept === 'string') accepted = formatOf(accept);
  if (accepted === undefined)
    throw malformedRequest(
      `The format ${String(accept)} is not supported.`,
      CODES.invalidArguments,
    );
  return op === 'bytecode' ? formatOfBytecode(accepted) : accepted;
}
