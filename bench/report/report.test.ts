// Goal: a run replaces its own sections of the page and nothing else. Method: a made-up run over the page as it is.
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { FILE, pageWith, printReport, type Report } from './report.ts';

const figures = { operationsPerSec: 10, p50Ms: 1, p99Ms: 2 };
const report: Report = {
  run: { date: '2027-01-02', commit: 'abcdef0', load: 0.5 },
  comparisons: [
    {
      title: 'read, 16 connections',
      figures: [
        { label: 'ours', cpuUs: 10, ...figures },
        { label: 'bare', cpuUs: 25, ...figures },
      ],
    },
  ],
  start: undefined,
};
const history = [{ date: '2027-01-02', commit: 'abcdef0', figures: ['2.50', '-'] }];

const headings = (page: string) => page.split('\n').filter((line) => line.startsWith('#'));
const sections = (page: string) => page.split(/^(?=## )/m);

test('headings stay, the figures of the run are new, other sections are the same', () => {
  const page = readFileSync(FILE, 'utf8');
  const written = pageWith(page, report, history);
  expect(headings(written).map((line) => line.split(':')[0])).toEqual(
    headings(page).map((line) => line.split(':')[0]),
  );
  const [intro, latest = '', past = '', ...others] = sections(written);
  const [introBefore, , , ...othersBefore] = sections(page);
  expect([intro, ...others]).toEqual([introBefore, ...othersBefore]);
  expect(latest).toContain('| read, 16 connections | bare | 25 | 10 | 1.00 | 2.00 | 2.50 |\n');
  expect(latest.match(/^\| read/gm)).toHaveLength(2);
  expect(past).toContain('| 2027-01-02 | abcdef0 | 2.50 | - |\n');
});

test('writing twice is the same as writing once', () => {
  const once = pageWith(readFileSync(FILE, 'utf8'), report, history);
  expect(pageWith(once, report, history)).toBe(once);
});

test('a server that ended no operation in most rounds had Infinity and NaN in the table', () => {
  const none = { label: 'ours', cpuUs: Number.POSITIVE_INFINITY, ...figures };
  const printed = printReport({ ...report, comparisons: [{ title: 'sum', figures: [none] }] });
  expect(printed).toContain('| sum | ours | - | 10 | 1.00 | 2.00 | - |\n');
});
