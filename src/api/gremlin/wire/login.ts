/** SASL PLAIN: the user is the path of a graph, the password a key of the account. */
import type { ContainerRecord } from '../../../catalog/index.ts';
import type { Passwords, ResourceTokens } from '../../../service/index.ts';
import { invalidCredentials, malformedRequest } from '../errors.ts';
import type { Reach } from '../graph/document-store.ts';
import type { GremlinRequest } from '../io/message.ts';

export interface Login {
  /** `/dbs/<database>/colls/<graph>`. */
  readonly graphPath: string;
  readonly mayWrite: boolean;
  /** Undefined where every graph of the account may be opened. */
  readonly mayOpen?: (container: ContainerRecord) => boolean;
  /** Undefined where everything in a graph may be reached. */
  readonly reach?: Reach | undefined;
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
  const isOfGraph = scope.kind === 'container' || scope.kind === 'item';
  if (!isOfGraph || (partitionKey?.length ?? 1) !== 1) throw invalidCredentials();
  const partition = partitionKey && { value: partitionKey[0] };
  const id = scope.kind === 'item' ? scope.id : undefined;
  return {
    reach: partition === undefined && id === undefined ? undefined : { partition, id },
    graphPath: user,
    mayWrite: mode === 'all',
    mayOpen: (container) => container.databaseRid === databaseRid && container.rid === containerRid,
  };
}
