/**
 * The Table API against Azurite, both keeping what they are given on disk, both called by the same client over connections
 * that are kept, with the bytes the stock client sends. Servers alternate within one run; what counts is the CPU time of the server
 * per operation, all its threads. Azurite saves its whole database every 5 seconds while it is written to, which is its
 * way to persist: a round of writes lasts two of these, so that they have their share in every figure.
 *
 *   node bench/table.ts [--quick] [--entities 10000]
 *
 * --entities: in the tables that are compared, a multiple of 2,000. Azurite takes some minutes to be filled with 400,000.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { AzureNamedKeyCredential, odata, TableClient } from '@azure/data-tables';
import { medianOf } from './compare.ts';
import type { TableOperation } from './load/protocol.ts';
import { FILTERED_ROWS } from './load/table-requests.ts';
import { LoadClient } from './servers/processes.ts';
import {
  fillTable,
  startAzurite,
  startOurTables,
  type TableServer,
} from './servers/table-servers.ts';

const { values: flags } = parseArgs({
  options: {
    quick: { type: 'boolean', default: false },
    entities: { type: 'string', default: '10000' },
  },
});
const isQuick = flags.quick;
const CONNECTIONS = 16;
const entities = Number(flags.entities);
/** Ours has both sizes, to see what that of a table costs. */
const otherEntities = entities < 100_000 ? 100_000 : 10_000;

/** A table of a server, which is measured. */
interface Contender {
  readonly name: string;
  readonly server: TableServer;
  readonly table: string;
  readonly entities: number;
}

interface Load {
  readonly name: string;
  readonly operation: TableOperation;
  readonly rounds: number;
  /** Once, before all rounds: by then the code that runs is compiled. */
  readonly warmUpMs: number;
  readonly measureMs: number;
}

const READS = { rounds: isQuick ? 3 : 5, warmUpMs: isQuick ? 2000 : 3000, measureMs: 1500 };
/** Two saves of Azurite in every round. */
const WRITES = { rounds: isQuick ? 1 : 2, warmUpMs: isQuick ? 2000 : 3000, measureMs: 10_000 };
/** Warm-up of each round, in which connections are opened. */
const RAMP_MS = 200;

const READ_LOADS: readonly Load[] = [
  { name: 'point get', operation: 'tableGet', ...READS },
  {
    name: `filtered query (${FILTERED_ROWS} rows of a partition, by a property)`,
    operation: 'tableQuery',
    ...READS,
  },
];
const WRITE_LOADS: readonly Load[] = [
  { name: 'insert', operation: 'tableInsert', ...WRITES },
  { name: 'batch of 100', operation: 'tableBatch', ...WRITES },
];

let nextNew = 1_000_000;

/** Medians of the CPU time per operation in microseconds. */
async function compareTables(
  client: LoadClient,
  contenders: readonly Contender[],
  { operation, rounds, warmUpMs, measureMs }: Load,
): Promise<readonly number[]> {
  const figures = contenders.map((): number[] => []);
  for (let round = -1; round < rounds; round++)
    for (const [at, { name, server, table, entities }] of contenders.entries()) {
      const result = await client.measure(server, {
        operation,
        database: '',
        container: table,
        accountKey: server.accountKey,
        itemCount: entities,
        firstNewItem: nextNew,
        connections: CONNECTIONS,
        warmUpMs: RAMP_MS,
        measureMs: round < 0 ? warmUpMs : measureMs,
      });
      nextNew = Math.max(nextNew, result.lastNewItem) + 1;
      if (Object.keys(result.failures).length > 0)
        throw new Error(`${name} ${operation}: ${JSON.stringify(result.failures)}`);
      if (round >= 0) figures[at]?.push((result.cpuMs * 1000) / result.operations);
    }
  return figures.map(medianOf);
}

/** Through the stock client: what is measured is what clients see. */
async function checkResponses({ server, table, entities }: Contender): Promise<void> {
  const { port, accountKey, name } = server;
  const account = 'devstoreaccount1';
  const client = new TableClient(
    `http://127.0.0.1:${port}/${account}`,
    table,
    new AzureNamedKeyCredential(account, accountKey),
    { allowInsecureConnection: true },
  );
  const queryOptions = { filter: odata`PartitionKey eq ${'p3'} and count eq ${7}` };
  let found = 0;
  for await (const entity of client.listEntities({ queryOptions }))
    if (entity.partitionKey === 'p3' && entity.count === 7) found++;
  const one = await client.getEntity('p1', 'r00000001');
  if (found !== FILTERED_ROWS || one.price !== 1.5)
    throw new Error(`${name} at ${entities}: ${found} rows, price ${one.price}`);
}

function row(cells: readonly (string | number)[]): string {
  const texts = cells.map((cell) =>
    typeof cell === 'number' ? cell.toFixed(cell < 50 ? 1 : 0) : cell,
  );
  return `| ${texts.join(' | ')} |`;
}

const folder = mkdtempSync(join(tmpdir(), 'mesocosm-bench-table-'));
const servers: TableServer[] = [];
const client = new LoadClient();
try {
  const ours = await startOurTables(folder);
  servers.push(ours);
  const azurite = await startAzurite(folder);
  servers.push(azurite);
  const contenders = servers.map(
    (server): Contender => ({ name: server.name, server, table: `t${entities}`, entities }),
  );
  const other: Contender = {
    name: 'ours',
    server: ours,
    table: `t${otherEntities}`,
    entities: otherEntities,
  };
  for (const each of [...contenders, other]) {
    const { port, accountKey } = each.server;
    await fillTable({ port, accountKey, table: each.table }, each.entities);
    await checkResponses(each);
  }
  console.log(`load of the machine before: ${loadavg()[0]?.toFixed(1)}\n`);
  console.log(
    row([
      `CPU us per operation, ${entities / 1000} k entities`,
      'ours',
      'Azurite',
      'ratio',
      `ours, ${otherEntities / 1000} k entities`,
    ]),
  );
  console.log(row(['---', '---:', '---:', '---:', '---:']));
  // Reads first: writes make the tables grow.
  for (const load of READ_LOADS) {
    const [us = 0, them = 0, there = 0] = await compareTables(client, [...contenders, other], load);
    console.log(row([load.name, us, them, them / us, there]));
  }
  for (const load of WRITE_LOADS) {
    const [us = 0, them = 0] = await compareTables(client, contenders, load);
    console.log(row([load.name, us, them, them / us, '']));
  }
  console.log(`\nload of the machine after: ${loadavg()[0]?.toFixed(1)}`);
} finally {
  client.stop();
  for (const server of servers) await server.stop();
  rmSync(folder, { recursive: true, force: true });
}
