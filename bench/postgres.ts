/**
 * The engines beside each other: SQLite, one PostgreSQL member, and a replica set with three of four. Run by itself:
 * `node bench/postgres.ts [--quick]`; writes a section of docs/benchmarks.md unless quick.
 */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { cpus, tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { nosqlHome } from '../src/api/nosql/index.ts';
import { systemClock, systemRandom } from '../src/base/index.ts';
import { openPostgresEngine, parsePostgresAddress } from '../src/engine/postgres/index.ts';
import { LocalReplicaSet } from '../src/engine/postgres/local/index.ts';
import { DEFAULT_SETTINGS, openService } from '../src/service/index.ts';
import { type Contender, compare, DATABASE, medianOf } from './compare.ts';
import type { Operation } from './load/protocol.ts';
import { describeRun, FILE } from './report/report.ts';
import { type OpenData, openData, seed } from './seed.ts';
import { LoadClient, startOurs } from './servers/processes.ts';

const { values: flags } = parseArgs({ options: { quick: { type: 'boolean', default: false } } });

const HEADING = '## PostgreSQL';
const ITEMS = 10_000;
const PACE = flags.quick
  ? { rounds: 3, warmUpMs: 300, measureMs: 700 }
  : { rounds: 5, warmUpMs: 500, measureMs: 1500 };
const ROUNDS = flags.quick ? 3 : 5;
const SINGLE_WRITES = 200;
const GROUPS = 20;
const GROUP = 64;
const OPERATIONS: readonly Operation[] = ['read', 'create', 'replace', 'equality', 'range'];

interface Storage {
  readonly label: string;
  /** A data directory, or the address of PostgreSQL. */
  readonly data: string;
}

interface Line {
  readonly title: string;
  /** One for each storage. */
  readonly values: readonly number[];
  readonly unit: string;
}

async function open({ data }: Storage): Promise<OpenData> {
  if (!data.startsWith('postgres://')) return openData(data);
  const address = parsePostgresAddress(data);
  if (typeof address === 'string') throw new Error(address);
  const engine = await openPostgresEngine({ address, checksQuorum: false });
  const service = await openService({
    engine,
    clock: systemClock,
    random: systemRandom,
    settings: { ...DEFAULT_SETTINGS, throughputMode: 'report' },
    homes: [nosqlHome],
  });
  return {
    service,
    async close() {
      await service.close();
      await engine.close();
    },
  };
}

/** The service alone: one write after the other, and groups. */
async function measureService(storages: readonly Storage[]): Promise<readonly Line[]> {
  const opened = await Promise.all(storages.map(open));
  const single = storages.map((): number[] => []);
  const grouped = storages.map((): number[] => []);
  for (let round = -1; round < ROUNDS; round++)
    for (const [at, data] of opened.entries()) {
      let startedMs = performance.now();
      const names = { database: DATABASE, container: 'single' };
      for (let one = 0; one < SINGLE_WRITES; one++)
        await seed(data.service, { ...names, firstNumber: 1000 * (round + 2) + one }, 1);
      if (round >= 0) single[at]?.push((performance.now() - startedMs) / SINGLE_WRITES);
      startedMs = performance.now();
      for (let group = 0; group < GROUPS; group++)
        await seed(
          data.service,
          {
            database: DATABASE,
            container: 'groups',
            firstNumber: GROUP * (GROUPS * (round + 2) + group),
          },
          GROUP,
        );
      if (round >= 0) grouped[at]?.push((1000 * GROUPS * GROUP) / (performance.now() - startedMs));
    }
  for (const data of opened) await data.close();
  return [
    { title: 'one create after the other, ms', values: single.map(medianOf), unit: 'ms' },
    { title: 'documents/s, groups of 64', values: grouped.map(medianOf), unit: '/s' },
  ];
}

async function measureServer(storages: readonly Storage[]): Promise<readonly Line[]> {
  await using running = new AsyncDisposableStack();
  const contenders: Contender[] = [];
  for (const { label, data } of storages) {
    const server = running.adopt(await startOurs(data, ['--replicas', 'any']), (one) => one.stop());
    contenders.push({ label, server, container: 'main', itemCount: ITEMS });
  }
  const client = running.adopt(new LoadClient(), (started) => started.stop());
  const lines: Line[] = [];
  for (const operation of OPERATIONS) {
    const figures = await compare(client, contenders, { operation, connections: 16, ...PACE });
    const values = figures.map(({ operationsPerSec }) => operationsPerSec);
    lines.push({ title: `server, 16 connections, ${operation}`, values, unit: '/s' });
    console.log(print(storages, lines.slice(-1)));
  }
  return lines;
}

function print(storages: readonly Storage[], lines: readonly Line[]): string {
  const head = storages.map(({ label }, at) =>
    at === 0 ? label : `${label} | of ${storages[0]?.label}`,
  );
  const shown = (value: number, unit: string) =>
    unit === 'ms' ? value.toFixed(2) : value.toFixed(0);
  return [
    `| load | ${head.join(' | ')} |`,
    `|---|${storages.map((_, at) => (at === 0 ? '---:|' : '---:|---:|')).join('')}`,
    ...lines.map(({ title, values, unit }) => {
      const [first = 1] = values;
      const cells = values.map((value, at) =>
        at === 0 ? shown(value, unit) : `${shown(value, unit)} | ${(value / first).toFixed(2)}`,
      );
      return `| ${title} | ${cells.join(' | ')} |`;
    }),
    '',
  ].join('\n');
}

/** Replaces the section, or adds it at the end; its prose stays. */
function write(table: string): void {
  const { date, commit, load } = describeRun();
  const text = readFileSync(FILE, 'utf8');
  const at = text.indexOf(HEADING);
  const before = at < 0 ? `${text.trimEnd()}\n\n` : text.slice(0, at);
  const next = text.indexOf('\n## ', at + 1);
  const old = at < 0 ? '' : text.slice(at, next < 0 ? undefined : next);
  const prose = old
    .split('\n\n')
    .slice(1)
    .filter((paragraph) => !paragraph.startsWith('|'))
    .map((paragraph) => `\n${paragraph.trim()}\n`)
    .join('');
  const heading = `${HEADING}: ${date}, commit ${commit}, ${cpus().length} cores, load ${load.toFixed(1)} before`;
  const after = at < 0 || next < 0 ? '' : text.slice(next);
  writeFileSync(FILE, `${before}${heading}\n\n${table}${prose}${after}`);
}

const folder = mkdtempSync(join(tmpdir(), 'mesocosm-bench-'));
try {
  await using alone = await LocalReplicaSet.start({ members: 1 });
  await using set = await LocalReplicaSet.start({ members: 4 });
  await set.untilStreaming(3);
  const storages: readonly Storage[] = [
    { label: 'SQLite', data: join(folder, 'data') },
    { label: 'one PostgreSQL', data: alone.url },
    { label: '3 of 4', data: set.url },
  ];
  for (const storage of storages) {
    const data = await open(storage);
    await seed(data.service, { database: DATABASE, container: 'main' }, ITEMS);
    await data.close();
  }
  const lines = [...(await measureService(storages)), ...(await measureServer(storages))];
  const table = print(storages, lines);
  console.log(table);
  if (!flags.quick) write(table);
} finally {
  rmSync(folder, { recursive: true, force: true });
}
