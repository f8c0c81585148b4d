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

/** The account, as clients of the reference service's emulators name it. */
const ACCOUNT = 'localhost';

/** The form that the portal of the reference service prints and its clients read. */
function connectionString(api: ApiName, endpoint: string, key: string): string {
  switch (api) {
    case 'table': {
      const scheme = endpoint.slice(0, endpoint.indexOf(':'));
      return `DefaultEndpointsProtocol=${scheme};AccountName=devstoreaccount1;AccountKey=${key};TableEndpoint=${endpoint}devstoreaccount1;`;
    }
    case 'mongo': {
      const [place, tls] = endpoint.slice(SCHEMES.mongo.plain.length).split('/?');
      const options = tls === undefined ? '' : `&${tls}`;
      return `mongodb://${ACCOUNT}:${encodeURIComponent(key)}@${place?.replace(/\/$/, '')}/?directConnection=true${options}`;
    }
    case 'cassandra': {
      const colon = endpoint.lastIndexOf(':');
      return `HostName=${endpoint.slice(0, colon)};Port=${endpoint.slice(colon + 1)};Username=${ACCOUNT};Password=${key};`;
    }
    case 'gremlin':
      return `AccountEndpoint=${endpoint};AccountKey=${key};ApiKind=Gremlin;`;
    default:
      return `AccountEndpoint=${endpoint};AccountKey=${key};`;
  }
}

interface Scheme {
  readonly plain: string;
  readonly tls: string;
  /** After the port. */
  readonly path: string;
  readonly tlsPath?: string;
}

const HTTP: Scheme = { plain: 'http://', tls: 'https://', path: '/' };

/** How clients of each API write an endpoint. Clients of Cassandra take a host and a port. */
const SCHEMES: Readonly<Record<ApiName, Scheme>> = {
  nosql: HTTP,
  table: HTTP,
  portal: HTTP,
  gremlin: { plain: 'ws://', tls: 'wss://', path: '/' },
  mongo: { plain: 'mongodb://', tls: 'mongodb://', path: '/', tlsPath: '/?tls=true' },
  cassandra: { plain: '', tls: '', path: '' },
};

/** The endpoint of a listener for a client on this machine; for an address that means all interfaces, localhost. */
export function endpointOf(api: ApiName, host: string, port: number, isTls = false): string {
  const isAny = host === '0.0.0.0' || host === '::';
  const name = isAny ? 'localhost' : host.includes(':') ? `[${host}]` : host;
  const { plain, tls, path, tlsPath = path } = SCHEMES[api];
  return `${isTls ? tls : plain}${name}:${port}${isTls ? tlsPath : path}`;
}
