/** The effect of splits on clients, as a section of docs/benchmarks.md. */
import { readFileSync, writeFileSync } from 'node:fs';
import { cpus } from 'node:os';
import type { SplitFigures } from '../split.ts';
import { FILE, type Run, writeResult } from './report.ts';

const HEADING = '## Splits';

export interface SplitReport {
  readonly run: Run;
  readonly splits: SplitFigures;
}

export function printSplits({ splits }: SplitReport): string {
  const { figures, splitCount, pauseP50Ms, pauseP99Ms, pauseMaxMs } = splits;
  const first = figures[0];
  return [
    '| creates, 16 connections | ops/s | p50 ms | p99 ms | p99 against no splits |',
    '|---|---:|---:|---:|---:|',
    ...figures.map(
      (one) =>
        `| ${one.label} | ${one.operationsPerSec.toFixed(0)} | ${one.p50Ms.toFixed(2)} | ${one.p99Ms.toFixed(2)} | ${(one.p99Ms / (first?.p99Ms ?? 1)).toFixed(2)} |`,
    ),
    '',
    '| writers of a partition wait for its split | splits | p50 ms | p99 ms | most ms |',
    '|---|---:|---:|---:|---:|',
    `| from the fence to the new partitions | ${splitCount} | ${pauseP50Ms.toFixed(0)} | ${pauseP99Ms.toFixed(0)} | ${pauseMaxMs.toFixed(0)} |`,
    '',
  ].join('\n');
}

/** Replaces the section, or adds it at the end. */
export function writeSplits(report: SplitReport): void {
  const { date, commit, load } = report.run;
  writeResult('splits', report);
  const text = readFileSync(FILE, 'utf8');
  const at = text.indexOf(HEADING);
  const before = at < 0 ? `${text.trimEnd()}\n\n` : text.slice(0, at);
  const next = text.indexOf('\n## ', at + 1);
  const after = at < 0 || next < 0 ? '' : text.slice(next);
  writeFileSync(
    FILE,
    `${before}${HEADING}: ${date}, commit ${commit}, ${cpus().length} cores, load ${load.toFixed(1)} before

Written by \`npm run bench -- --only split\`: creates of 1 KB on two servers, alternating, four partitions each to begin
with; those of one split at 1 MB, those of the other never do. Medians over the rounds.

${printSplits(report)}${after}`,
  );
}
