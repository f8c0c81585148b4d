/** Counters of the server. */
import { type Bson, type BsonDocument, Double, Extended } from '../../../../value/index.ts';
import { isTruthy } from '../../aggregate/expressions/define.ts';
import type { Call, Command } from '../../call.ts';
import { collectionsOf, isTimeSeries, isView } from '../../collections/collection.ts';
import { documentOf, ok } from '../../reply.ts';
import { addressText } from '../connection/hello.ts';
import { SERVER_VERSION } from '../connection/server-version.ts';

export const serverStatus: Command = {
  needs: 'read',
  run(call) {
    const { context, connection } = call;
    const { service, operations, topology } = context;
    const uptimeMs = process.uptime() * 1000;
    const { counters } = operations;
    const all: Record<string, Bson> = {
      host: addressText(connection.info),
      version: SERVER_VERSION,
      process: 'mongod',
      service: [],
      pid: BigInt(process.pid),
      uptime: new Double(Math.floor(uptimeMs / 1000)),
      uptimeMillis: BigInt(Math.floor(uptimeMs)),
      uptimeEstimate: BigInt(Math.floor(uptimeMs / 1000)),
      localTime: new Extended({ kind: 'date', ms: service.clock.nowMs() }),
      asserts: numbers({ regular: 0, warning: 0, msg: 0, user: 0, tripwire: 0, rollovers: 0 }),
      catalogStats: catalogStats(call),
      connections: numbers({
        current: 1,
        available: 10_000,
        totalCreated: connection.info.id,
        active: 1,
        rejected: 0,
      }),
      extra_info: documentOf({ note: 'fields vary by platform', page_faults: 0n }),
      globalLock: documentOf({
        totalTime: BigInt(Math.floor(uptimeMs * 1000)),
        currentQueue: numbers({ total: 0, readers: 0, writers: 0 }),
        activeClients: numbers({ total: operations.list().length, readers: 0, writers: 0 }),
      }),
      locks: documentOf({}),
      logicalSessionRecordCache: numbers({ activeSessionsCount: context.sessions.list().length }),
      network: documentOf({ bytesIn: 0n, bytesOut: 0n, numRequests: BigInt(requests(call)) }),
      opcounters: longs({ ...counters }),
      opcountersRepl: longs({ insert: 0, query: 0, update: 0, delete: 0, getmore: 0, command: 0 }),
      security: documentOf({}),
      storageEngine: documentOf({
        name: 'mesocosm',
        supportsCommittedReads: true,
        oldestRequiredTimestampForCrashRecovery: new Extended({
          kind: 'timestamp',
          high: 0,
          low: 0,
        }),
        supportsPendingDrops: true,
        dropPendingIdents: 0n,
        supportsSnapshotReadConcern: true,
        readOnly: false,
        persistent: true,
        backupCursorOpen: false,
      }),
      transactions: longs({
        retriedCommandsCount: 0,
        retriedStatementsCount: 0,
        transactionsCollectionWriteCount: 0,
        currentActive: service.transactions.openCount,
        currentInactive: 0,
        currentOpen: service.transactions.openCount,
        totalAborted: 0,
        totalCommitted: 0,
        totalStarted: 0,
      }),
      ...(topology === 'replica-set' ? { repl: replication(call) } : {}),
      mem: documentOf({
        bits: 64,
        resident: Math.floor(process.memoryUsage.rss() / 2 ** 20),
        virtual: Math.floor(process.memoryUsage.rss() / 2 ** 20),
        supported: true,
      }),
      metrics: metrics(call),
      // One node has nobody to send its reads to.
      mirroredReads: longs({ seen: 0, sent: 0 }),
    };
    return ok(wanted(call.body, all));
  },
};

/** Parts that a client leaves out or asks for by name: what counts as false leaves one out. */
function wanted(
  body: BsonDocument,
  all: Readonly<Record<string, Bson>>,
): Readonly<Record<string, Bson>> {
  return Object.fromEntries(
    Object.entries(all).filter(([name]) => {
      const sent = body.get(name);
      return sent === undefined ? !ON_REQUEST.has(name) : isTruthy(sent);
    }),
  );
}

/** Parts that are shown only where a client asks for them. */
const ON_REQUEST: ReadonlySet<string> = new Set(['mirroredReads']);

/** Collections by their kind; those of `admin`, `config` and `local` are the server's own. */
function catalogStats({ context: { service } }: Call): BsonDocument {
  const counts = {
    collections: 0,
    clustered: 0,
    capped: 0,
    timeseries: 0,
    views: 0,
    internalCollections: 0,
    internalViews: 0,
  };
  for (const { id } of service.databases.list())
    for (const collection of collectionsOf(service, id)) {
      const isInternal = INTERNAL.has(id);
      if (isView(collection)) counts[isInternal ? 'internalViews' : 'views'] += 1;
      else counts[isInternal ? 'internalCollections' : 'collections'] += 1;
      if (collection.options.get('capped') === true) counts.capped += 1;
      if (collection.options.has('clusteredIndex')) counts.clustered += 1;
      if (isTimeSeries(collection)) counts.timeseries += 1;
    }
  return numbers(counts);
}

const INTERNAL: ReadonlySet<string> = new Set(['admin', 'config', 'local']);

function replication({ connection }: Call): BsonDocument {
  const me = addressText(connection.info);
  return documentOf({
    setName: 'globaldb',
    setVersion: 1,
    isWritablePrimary: true,
    secondary: false,
    primary: me,
    hosts: [me],
    me,
    rbid: 1,
  });
}

function metrics({ context: { operations, cursors } }: Call): BsonDocument {
  const commands = new Map<string, Bson>();
  for (const [name, { total, failed }] of operations.commands)
    commands.set(name, longs({ failed, total }));
  return documentOf({
    commands,
    cursor: documentOf({
      timedOut: 0n,
      open: longs({ noTimeout: 0, pinned: 0, total: cursors.size }),
    }),
    document: longs({ deleted: 0, inserted: 0, returned: 0, updated: 0 }),
    operation: longs({ scanAndOrder: 0, writeConflicts: 0 }),
    queryExecutor: longs({ scanned: 0, scannedObjects: 0 }),
    ttl: longs({ deletedDocuments: 0, passes: 0 }),
  });
}

function requests({ context }: Call): number {
  return Object.values(context.operations.counters).reduce((sum, count) => sum + count, 0);
}

function numbers(values: Readonly<Record<string, number>>): BsonDocument {
  return new Map(Object.entries(values));
}

function longs(values: Readonly<Record<string, number>>): BsonDocument {
  return new Map(Object.entries(values).map(([name, value]) => [name, BigInt(value)]));
}
