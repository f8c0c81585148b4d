/** The table that the server prints when it is ready: the endpoint of each API, and the connection string to paste. */
import { printTable } from '../cli/index.ts';
import { API_NAMES, type ApiName, type Port } from './config.ts';

const TITLES: Readonly<Record<ApiName, string>> = {
  nosql: 'NoSQL',
  mongo: 'MongoDB',
  gremlin: 'Gremlin',
  table: 'Table',
  cassandra: 'Cassandra',
  portal: 'portal',
};

interface StartTable {
  /** Undefined for an API that is not served. */
  readonly endpoints: Readonly<Partial<Record<ApiName, string>>>;
  readonly ports: Readonly<Record<ApiName, Port>>;
  /** Undefined: the key is not printed. Output that is no terminal ends up in files and in other programs. */
  readonly key: string | undefined;
}

export function printStartTable({ endpoints, ports, key }: StartTable): string {
  const rows = API_NAMES.map((api) => {
    const endpoint = endpoints[api];
    if (endpoint === undefined)
      return [TITLES[api], ports[api] === 'off' ? 'off' : 'not served yet'];
    return key === undefined
      ? [TITLES[api], endpoint]
      : [TITLES[api], endpoint, connectionString(api, endpoint, key)];
  });
  if (key === undefined) return `${printTable([['API', 'endpoint'], ...rows])}\n${WITHOUT_KEY}`;
  return printTable([['API', 'endpoint', 'connection string'], ...rows]);
}

const WITHOUT_KEY =
  'Connection strings are printed to a terminal only, for they hold the key: see --ready-file, or mesocosm keys list.\n';

/** The form that the portal of the reference service prints and its clients read. */
function connectionString(api: ApiName, endpoint: string, key: string): string {
  if (api !== 'table') return `AccountEndpoint=${endpoint};AccountKey=${key};`;
  const scheme = endpoint.slice(0, endpoint.indexOf(':'));
  return `DefaultEndpointsProtocol=${scheme};AccountName=devstoreaccount1;AccountKey=${key};TableEndpoint=${endpoint}devstoreaccount1;`;
}

/** The URL of a listener for a client on this machine; for an address that means all interfaces, localhost. */
export function endpointOf(host: string, port: number, scheme: 'http' | 'https' = 'http'): string {
  const isAny = host === '0.0.0.0' || host === '::';
  const name = isAny ? 'localhost' : host.includes(':') ? `[${host}]` : host;
  return `${scheme}://${name}:${port}/`;
}
