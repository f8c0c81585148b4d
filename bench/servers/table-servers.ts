/** The two servers of the Table API, and tables to read from. */
import { spawn } from 'node:child_process';
import { connect, createServer } from 'node:net';
import { join } from 'node:path';
import { WELL_KNOWN_KEY, WELL_KNOWN_STORAGE_KEY } from '../../src/base/index.ts';
import { TABLE_BATCH, TABLE_PARTITIONS } from '../load/protocol.ts';
import { headOfWhole, statusOf } from '../load/response.ts';
import { batchRequest, type TablePlace, tableCreation } from '../load/table-requests.ts';
import { installPeers, PEERS } from './peers.ts';
import { type BenchServer, startOurs } from './processes.ts';

/** Azurite needs some seconds to load its code. */
const START_MS = 60_000;

export interface TableServer extends BenchServer {
  readonly accountKey: string;
}

export async function startOurTables(folder: string): Promise<TableServer> {
  const server = await startOurs(join(folder, 'ours'));
  return { ...server, port: server.tablePort as number, accountKey: WELL_KNOWN_KEY };
}

/** As its own command starts it: persistence is on. */
export async function startAzurite(folder: string): Promise<TableServer> {
  installPeers();
  const main = join(PEERS, 'node_modules/azurite/dist/src/table/main.js');
  const port = await freePort();
  const flags = ['--location', folder, '--tablePort', String(port), '--silent'];
  const child = spawn(process.execPath, [main, ...flags, '--disableTelemetry'], {
    stdio: 'ignore',
    cwd: folder,
  });
  const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  for (const stopBy = Date.now() + START_MS; ; ) {
    const isUp = await fetch(`http://127.0.0.1:${port}/`).then(
      () => true,
      () => false,
    );
    if (isUp) break;
    if (Date.now() > stopBy || child.exitCode !== null) throw new Error('Azurite did not start');
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  return {
    name: 'Azurite',
    scheme: 'http',
    port,
    accountKey: WELL_KNOWN_STORAGE_KEY,
    pid: child.pid as number,
    async stop() {
      child.kill('SIGTERM');
      await ended;
    },
  };
}

function freePort(): Promise<number> {
  return new Promise((resolve) => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const { port } = server.address() as { port: number };
      server.close(() => resolve(port));
    });
  });
}

/** Connections that fill a table. */
const FILLERS = 5;

/** A new table with as many entities, by change sets. */
export async function fillTable(place: TablePlace, entities: number): Promise<void> {
  const rows = entities / TABLE_PARTITIONS;
  await exchangeAll(place.port, [tableCreation(place)].values());
  await Promise.all(
    Array.from({ length: FILLERS }, (_, first) =>
      exchangeAll(place.port, partitionRequests(place, rows, first)),
    ),
  );
}

function* partitionRequests(place: TablePlace, rows: number, first: number): Generator<string> {
  for (let partition = first; partition < TABLE_PARTITIONS; partition += FILLERS)
    for (let row = 0; row < rows; row += TABLE_BATCH)
      yield batchRequest(place, partition, row, rows);
}

/** One after the other; throws at the first that is refused. */
function exchangeAll(port: number, requests: Iterator<string>): Promise<void> {
  return new Promise((resolve, reject) => {
    let received = Buffer.alloc(0);
    const socket = connect({ port, host: '127.0.0.1', noDelay: true }, send);
    function send(): void {
      const next = requests.next();
      if (next.done === true) {
        socket.destroy();
        resolve();
      } else socket.write(next.value, 'latin1');
    }
    socket.on('error', reject);
    socket.on('data', (chunk: Buffer) => {
      received = Buffer.concat([received, chunk]);
      const head = headOfWhole(received);
      if (head === undefined) return;
      if (statusOf(head) >= 400 || received.includes('HTTP/1.1 4')) {
        socket.destroy();
        reject(new Error(`fill: ${received.toString('utf8', 0, 2000)}`));
        return;
      }
      received = Buffer.alloc(0);
      send();
    });
  });
}
