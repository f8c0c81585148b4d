/** The refusal of a request for missing rights: a response for the client, a reason for the audit log. */
import { describePrincipal, type Principal } from '../../../service/index.ts';
import { RequestError } from '../errors.ts';

export class AccessRefusal extends RequestError {
  /** The refused caller. */
  readonly who: string;
  readonly reason: string;

  constructor(
    status: 401 | 403,
    message: string,
    options: { reason: string; principal?: Principal; substatus?: number },
  ) {
    super(status, message, options.substatus === undefined ? {} : { substatus: options.substatus });
    this.who = describePrincipal(options.principal);
    this.reason = options.reason;
  }
}

export function unauthorized(message: string, reason: string, substatus?: number): AccessRefusal {
  return new AccessRefusal(401, message, {
    reason,
    ...(substatus === undefined ? {} : { substatus }),
  });
}

const INSUFFICIENT =
  'Insufficient permissions provided in the authorization header for the corresponding request. Please retry with another authorization header.';

export function forbidden(principal: Principal, reason: string): AccessRefusal {
  return new AccessRefusal(403, INSUFFICIENT, { reason, principal });
}
