/** The figures as tables: for the terminal, and in docs/benchmarks.md out of the result files in `results/`. */
import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { cpus, loadavg } from 'node:os';
import { fileURLToPath } from 'node:url';
import type { Figures } from '../compare.ts';
import type { StartFigures } from '../start-figures.ts';

/** The commit that is measured, and the load of the machine before the first server starts. */
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

export const FILE = fileURLToPath(new URL('../../docs/benchmarks.md', import.meta.url));
const RESULTS = new URL('../results/', import.meta.url);
const LATEST = '## Latest';
const HISTORY = '## History';

/** One run in the history: a figure per column of its table. */
export interface HistoryRow {
  readonly date: string;
  readonly commit: string;
  readonly figures: readonly string[];
}

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
        `| ${title} | ${one.label} | ${finite(one.cpuUs, 0)} | ${one.operationsPerSec.toFixed(0)} | ${one.p50Ms.toFixed(2)} | ${one.p99Ms.toFixed(2)} | ${ratio(one, first)} |`,
      );
  }
  if (start !== undefined) lines.push('', ...printStart(start));
  return `${lines.join('\n')}\n`;
}

/** CPU per operation of one as a multiple of the first. */
function ratio(one: Figures, first: Figures | undefined): string {
  return first === undefined ? '' : finite(one.cpuUs / first.cpuUs, 2);
}

/** A dash where no operation ended within most rounds: the machine was too slow for the length of a round. */
function finite(value: number, digits: number): string {
  return Number.isFinite(value) ? value.toFixed(digits) : '-';
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

/** Keeps the figures as result files, and writes the page out of them. */
export function writeReport(report: Report): void {
  const { date, commit } = report.run;
  const file = new URL('history.json', RESULTS);
  const older: readonly HistoryRow[] = JSON.parse(readFileSync(file, 'utf8'));
  const history = [{ date, commit, figures: historyFigures(report) }, ...older];
  writeResult('history', history);
  writeResult('requests', report);
  writeFileSync(FILE, pageWith(readFileSync(FILE, 'utf8'), report, history));
}

/** Keeps the result of one kind of run; the files are committed. */
export function writeResult(name: string, result: object): void {
  writeFileSync(new URL(`${name}.json`, RESULTS), `${JSON.stringify(result, null, 2)}\n`);
}

/** The page with the sections of this run replaced. Text and the sections of other runs stay as they are. */
export function pageWith(page: string, report: Report, history: readonly HistoryRow[]): string {
  const { date, commit, load } = report.run;
  const rows = history.map((row) => `| ${[row.date, row.commit, ...row.figures].join(' | ')} |`);
  return page
    .split(/^(?=## )/m)
    .map((section) => {
      if (section.startsWith(LATEST))
        return `${LATEST}: ${date}, commit ${commit}, Node ${process.versions.node}, ${cpus().length} cores, load ${load.toFixed(1)} before

${printReport(report)}
${paragraphsOf(section).join('\n\n')}

`;
      if (section.startsWith(HISTORY))
        return `${HISTORY}

${paragraphsOf(section).join('\n\n')}

${HISTORY_HEAD}
${rows.join('\n')}

`;
      return section;
    })
    .join('');
}

/** The prose of a section, to be corrected by hand after a run; titles of tables end with a colon and go with them. */
function paragraphsOf(section: string): readonly string[] {
  return section
    .trim()
    .split(/\n{2,}/)
    .slice(1)
    .filter((paragraph) => !paragraph.startsWith('|') && !paragraph.endsWith(':'));
}

const HISTORY_HEAD = `| date | commit | read: bare | read: peer | create: peer | read: tuned | create: tuned | large read | large create |
| --- | --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |`;

function historyFigures({ comparisons }: Report): readonly string[] {
  const of = (load: string, label: string): string => {
    const figures = comparisons.find(({ title }) => title.startsWith(load))?.figures ?? [];
    const one = figures.find((candidate) => candidate.label === label);
    return one === undefined ? '-' : ratio(one, figures[0]);
  };
  return [
    of('read, 16', 'bare'),
    of('read, 16', 'peer'),
    of('create, 16', 'peer'),
    of('read, 16', 'peer tuned'),
    of('create, 16', 'peer tuned'),
    of('read at 10 k', '1 M items'),
    of('create at 10 k', '1 M items'),
  ];
}

function git(...args: readonly string[]): string {
  return execFileSync('git', args, { encoding: 'utf8' }).trim();
}
