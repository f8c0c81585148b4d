/** The refusal of a request whose body is no list of operations. */
import { RequestError } from '../errors.ts';

export function malformedBatch(why: string): RequestError {
  return new RequestError(400, `The batch request body is invalid: ${why}.`);
}
