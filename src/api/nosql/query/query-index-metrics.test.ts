// Goal: the header of index metrics is cut where the service cuts it. Method: the service's own test, three paths of
// 10,000 letters, whose expected result is public.
import { expect, it } from 'vitest';
import {
  type IndexMetrics,
  printIndexMetricsV1,
  printIndexMetricsV2,
} from './query-index-metrics.ts';

const [a, b, c] = ['a', 'b', 'c'].map((letter) => `/${letter.repeat(10_000)}`) as [
  string,
  string,
  string,
];
const none = { single: [], composite: [] };
const metrics = (
  singles: readonly string[],
  ...composite: (readonly string[])[]
): IndexMetrics => ({
  utilized: { single: singles.map((path) => `${path}/?`), composite: [] },
  potential: { ...none, composite: composite.map((list) => list.map((path) => `${path} ASC`)) },
});

it('sends a header below 64 KB whole', () => {
  const text = decodeURIComponent(printIndexMetricsV2(metrics([a, b], [a, b])));
  expect(text).toHaveLength(40_221);
  expect(JSON.parse(text).PotentialIndexes.CompositeIndexes[0].IndexImpactScore).toBe('High');
});

it('cuts a longer one to its length in 16 bits', () => {
  const text = decodeURIComponent(printIndexMetricsV2(metrics([a, b, c], [a, b], [a, c])));
  expect(text).toBe(`{"UtilizedIndexes":{"SingleIndexes":[{"IndexSpec":"/${'a'.repeat(4_906)}`);
  expect(printIndexMetricsV1(metrics([a, b, c], [a, b], [a, c])).length).toBeLessThan(2 ** 16);
});
