/** SASL PLAIN: the user is the path of a graph, the password a key of the account. */
import type { ContainerRecord } from '../../../catalog/index.ts';
import type { Passwords, ResourceTokens } from '../../../service/index.ts';
import type { Value } from '../../../value/index.ts';
import { invalidCredentials, malformedRequest } from '../errors.ts';
import type { GremlinRequest } from '../io/message.ts';

export interface Login {
  /** `/dbs/<database>/colls/<graph>`. */
  readonly graphPath: string;
  readonly mayWrite: boolean;
  /** Undefined where every graph of the account may be opened. */
  readonly mayOpen?: (container: ContainerRecord) => boolean;
  /** The only partition key that may be reached; undefined for all. */
  readonly onlyPartition?: { readonly value: Value } | undefined;
}

export interface LoginChecks {
  readonly passwords: Pick<Passwords, 'checkKey'>;
  /** Undefined where there are no resource tokens. */
  readonly tokens?: Pick<ResourceTokens, 'read'> | undefined;
}

export function login({ args }: GremlinRequest, checks: LoginChecks, nowMs: number): Login {
  const sasl = args.get('sasl');
  const mechanism = args.get('saslMechanism') ?? 'PLAIN';
  if (typeof sasl !== 'string' || mechanism !== 'PLAIN')
    throw malformedRequest('Only the SASL mechanism PLAIN is supported.');
  const [, user = '', password = ''] = Buffer.from(sasl, 'base64').toString('utf8').split('\0');
  return loginWith(user, password, checks, nowMs);
}

/** The password is a key of the account, or a resource token of the graph. */
export function loginWith(
  user: string,
  password: string,
  { passwords, tokens }: LoginChecks,
  nowMs: number,
): Login {
  const principal = passwords.checkKey(password);
  if (principal !== undefined) return { graphPath: user, mayWrite: principal.kind === 'master' };
  const reading = tokens?.read(password, nowMs);
  if (reading?.kind !== 'valid') throw invalidCredentials();
  const { mode, databaseRid, containerRid, scope, partitionKey } = reading.grant;
  // A traversal goes from element to element: a token for one of them cannot be used.
  if (scope.kind !== 'container' || (partitionKey?.length ?? 1) !== 1) throw invalidCredentials();
  return {
    onlyPartition: partitionKey === undefined ? undefined : { value: partitionKey[0] },
    graphPath: user,
    mayWrite: mode === 'all',
    mayOpen: (container) => container.databaseRid === databaseRid && container.rid === containerRid,
  };
}
