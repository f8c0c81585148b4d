/** The figures as tables: for the terminal and for docs/benchmarks.md. */
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { cpus, loadavg } from 'node:os';
import { fileURLToPath } from 'node:url';
import type { Figures } from './compare.ts';
import type { StartFigures } from './start-figures.ts';

/** What was measured, and how busy the machine was with other things; taken before the first server starts. */
export interface Run {
  readonly date: string;
  readonly commit: string;
  readonly load: number;
}

export function describeRun(): Run {
  const isChanged = git('status', '--porcelain') !== '';
  return {
    date: new Date().toISOString().slice(0, 10),
    commit: git('rev-parse', '--short', 'HEAD') + (isChanged ? '+' : ''),
    load: loadavg()[0] ?? 0,
  };
}

export interface Comparison {
  /** `point read, 16 connections` */
  readonly title: string;
  readonly figures: readonly Figures[];
}

export interface Report {
  readonly run: Run;
  readonly comparisons: readonly Comparison[];
  readonly start: StartFigures | undefined;
}

export const FILE = fileURLToPath(new URL('../docs/benchmarks.md', import.meta.url));
const HISTORY = '## History';
/** Of the table of all runs. */
const COLUMNS = 13;
/** Sections of other runs, which stay; the first of them begins here. */
const OTHERS = '## Splits';

/** How creates into a container without an index are labelled. */
export const OURS_UNINDEXED = 'ours, no index';

export function printReport({ comparisons, start }: Report): string {
  const lines = [
    '| load | server | CPU us/op | ops/s | p50 ms | p99 ms | CPU against ours |',
    '|---|---|---:|---:|---:|---:|---:|',
  ];
  for (const { title, figures } of comparisons) {
    const first = figures[0];
    for (const one of figures)
      lines.push(
        `| ${title} | ${one.label} | ${one.cpuUs.toFixed(0)} | ${one.operationsPerSec.toFixed(0)} | ${one.p50Ms.toFixed(2)} | ${one.p99Ms.toFixed(2)} | ${ratio(one, first)} |`,
      );
  }
  if (start !== undefined) lines.push('', ...printStart(start));
  return `${lines.join('\n')}\n`;
}

/** CPU per operation of one as a multiple of the first. */
function ratio(one: Figures, first: Figures | undefined): string {
  return first === undefined ? '' : (one.cpuUs / first.cpuUs).toFixed(2);
}

function printStart(start: StartFigures): readonly string[] {
  return [
    '| start | |',
    '|---|---:|',
    `| \`npm start\` to ready, built tree | ${start.npmStartMs.toFixed(0)} ms |`,
    `| \`mesocosm start\` to ready, new directory | ${start.startMs.toFixed(0)} ms |`,
    `| idle resident memory | ${(start.idleBytes / 2 ** 20).toFixed(0)} MB |`,
    `| idle CPU | ${start.idleCpuPercent.toFixed(2)} % |`,
  ];
}

/** Replaces the latest figures, adds a line to the history. */
export function writeReport(report: Report): void {
  const { date, commit, load } = report.run;
  const row = `| ${date} | ${commit} | ${history(report)} |`;
  writeFileSync(
    FILE,
    `# Benchmarks

Written by \`npm run bench\`. Read ratios, not absolute numbers: the machine is shared. Each load runs on all servers by
turns within one run; figures are medians over the rounds. CPU is user and system time of the whole server process, all
threads. Items have 1 KB; every request is signed and every signature checked; the client keeps its connections.

- **ours**: the built server on SQLite, every write synced to disk before it is acknowledged, every path indexed (27 entries
  an item). **${OURS_UNINDEXED}**: the same with the container's indexing mode none. The peer has no index either way.
- **bare**: \`node:http\` with the same signature check, sending the same bytes and headers from memory. What
  \`node:http\` alone costs; our server goes without it for ordinary requests (docs/decisions/0014-http.md).
- **peer**: \`@vercel/cosmosdb-server\` 1.0.1 as its own command starts it: in memory, HTTPS, a connection for every
  request (the client resumes its TLS session). It checks no signatures and keeps nothing.
- **peer tuned**: the same over plain HTTP with connections kept, by an option that its documentation does not name.

## Latest: ${date}, commit ${commit}, Node ${process.versions.node}, ${cpus().length} cores, load ${load.toFixed(1)} before

${printReport(report)}
${HISTORY}

CPU per operation of the other server as a multiple of ours, at 16 connections. For bare below 1: the share of its speed
that is left. For the peer above 1: how many times cheaper ours is. Large: ours at 1 M items against 10 k items. Read beside a
query: p99 while a query that takes seconds is under way.

| date | commit | read: bare | read: peer | create: peer | read: peer tuned | create: peer tuned | large read | large create | create, no index: peer | create: index against none | filter: peer tuned | read beside a query |
|---|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|
${[row, ...olderRows()].join('\n')}
${otherSections()}`,
  );
}

function history({ comparisons }: Report): string {
  const figuresOf = (load: string): readonly Figures[] =>
    comparisons.find(({ title }) => title.startsWith(load))?.figures ?? [];
  const of = (load: string, label: string): string => {
    const figures = figuresOf(load);
    const one = figures.find((candidate) => candidate.label === label);
    return one === undefined ? '-' : ratio(one, figures[0]);
  };
  const between = (load: string, label: string, against: string): string => {
    const figures = figuresOf(load);
    const one = figures.find((candidate) => candidate.label === label);
    const other = figures.find((candidate) => candidate.label === against);
    return one === undefined || other === undefined ? '-' : ratio(one, other);
  };
  const p99 = (load: string, label: string): string => {
    const one = figuresOf(load).find((candidate) => candidate.label === label);
    return one === undefined ? '-' : `${one.p99Ms.toFixed(1)} ms`;
  };
  return [
    of('read, 16', 'bare'),
    of('read, 16', 'peer'),
    of('create, 16', 'peer'),
    of('read, 16', 'peer tuned'),
    of('create, 16', 'peer tuned'),
    of('read at 10 k', '1 M items'),
    of('create at 10 k', '1 M items'),
    between('create, 16', 'peer', OURS_UNINDEXED),
    between('create, 16', 'ours', OURS_UNINDEXED),
    of('filter over', 'peer tuned'),
    p99('read, 16 connections, beside', 'ours, both'),
  ].join(' | ');
}

function otherSections(): string {
  if (!existsSync(FILE)) return '';
  const text = readFileSync(FILE, 'utf8');
  const at = text.indexOf(OTHERS);
  return at < 0 ? '' : `\n${text.slice(at)}`;
}

function olderRows(): readonly string[] {
  if (!existsSync(FILE)) return [];
  const text = readFileSync(FILE, 'utf8');
  const history = text.slice(text.indexOf(HISTORY)).split(`\n${OTHERS}`)[0] ?? '';
  return history
    .split('\n')
    .filter((line) => /^\| \d{4}-/.test(line))
    .map(withAllColumns);
}

/** What an earlier run did not measure. */
function withAllColumns(row: string): string {
  const missing = COLUMNS - (row.split('|').length - 2);
  return row + ' - |'.repeat(Math.max(0, missing));
}

function git(...args: readonly string[]): string {
  return execFileSync('git', args, { encoding: 'utf8' }).trim();
}
