/** The portal as a whole: its routes for administration first, for administration is what it is made of. */
import {
  type Admin,
  type AdminRoute,
  type ApiState,
  livePartitions,
  type SeriesRecorder,
} from '../api/admin/index.ts';
import type { PageRunner, WriteEstimator } from '../api/nosql/index.ts';
import type { Clock } from '../base/index.ts';
import type { HttpHandler } from '../http/index.ts';
import type { ByteProtocol } from '../net/index.ts';
import type { AccountKeys, Service } from '../service/index.ts';
import { Events } from './events.ts';
import { createPortalHandler, type PortalParts } from './handler.ts';
import type { OpenGremlin } from './local/gremlin-client.ts';
import { nosqlClient, tableClient } from './local/http-clients.ts';
import { portalRoutes } from './routes.ts';
import { cassandraRunner } from './run/cassandra.ts';
import { gremlinRunner } from './run/gremlin.ts';
import { mongoRunner } from './run/mongo.ts';
import { nosqlRunner } from './run/nosql.ts';
import { Runs } from './run/runs.ts';
import { tableRunner } from './run/table.ts';
import { SavedQueries, type SavedStore } from './saved-queries.ts';
import { Sessions } from './sessions.ts';
import { StaticFiles } from './static-files.ts';

/** The APIs as the portal reaches them: what their ports serve, without the ports. */
export interface PortalDoors {
  readonly nosql: HttpHandler;
  readonly table: HttpHandler;
  readonly mongo: ByteProtocol;
  readonly cassandra: ByteProtocol;
  readonly gremlin: OpenGremlin;
  readonly runPage: PageRunner;
  readonly estimate: WriteEstimator;
}

interface PortalOptions extends Pick<PortalParts, 'version' | 'onFailure' | 'onRefusal'> {
  readonly service: Service;
  readonly keys: AccountKeys;
  readonly clock: Clock;
  readonly recorder: SeriesRecorder;
  readonly doors: PortalDoors;
  readonly apis: () => readonly ApiState[];
  readonly isTls: boolean;
  readonly savedStore: SavedStore;
  /** The folder of the built page. */
  readonly filesPath: string;
  /** True where nobody need log in. */
  readonly isOpen: () => boolean;
  readonly isReadOnly: boolean;
}

export interface Portal {
  /** For administration, on every port that has it. */
  readonly routes: Readonly<Record<string, AdminRoute>>;
  /** The handler of the portal's port. */
  serve(admin: Admin): HttpHandler;
  /** Ends open streams: the server stops. */
  close(): void;
}

export function createPortal(options: PortalOptions): Portal {
  const { service, keys, clock, doors } = options;
  const runs = new Runs(
    {
      nosql: nosqlRunner(doors.runPage, service),
      table: tableRunner(tableClient({ handler: doors.table, keys, clock })),
      mongo: mongoRunner(doors.mongo, keys),
      cassandra: cassandraRunner(doors.cassandra, keys),
      gremlin: gremlinRunner(doors.gremlin, keys, service),
    },
    service,
  );
  const saved = new SavedQueries(options.savedStore);
  let report: (topic: string) => string | undefined = () => undefined;
  const events = new Events((topic) => report(topic));
  return {
    routes: portalRoutes({
      ...options,
      runs,
      saved,
      events,
      runPage: doors.runPage,
      estimate: doors.estimate,
      askTable: tableClient({ handler: doors.table, keys, clock }),
    }),
    serve(admin) {
      report = (topic) => topicOf(options, admin, topic);
      return createPortalHandler({
        ...options,
        admin,
        events,
        nosql: nosqlClient({ handler: doors.nosql, keys, clock }),
        sessions: new Sessions(options),
        files: new StaticFiles(options.filesPath),
      });
    },
    close: () => events.close(),
  };
}

/** `overview`, or `partitions:DB/CONTAINER` with names as in a URL. */
function topicOf(
  { service, recorder }: PortalOptions,
  { overview }: Admin,
  topic: string,
): string | undefined {
  if (topic === 'overview') return JSON.stringify(overview());
  const [kind, name = ''] = topic.split(':');
  const [db = '', container = ''] = name.split('/').map(decodeURIComponent);
  if (kind !== 'partitions') return undefined;
  const database = service.databases.find(db);
  const record = database && service.containers.find(database, container);
  return record === undefined
    ? undefined
    : JSON.stringify(livePartitions(service, recorder, record));
}
