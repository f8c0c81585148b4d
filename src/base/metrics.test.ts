// Goal: Prometheus can read the printed text. Method: small registries, exact text.
import { expect, test } from 'vitest';
import { Metrics } from './metrics.ts';

test('counters print one line per set of label values', () => {
  const metrics = new Metrics();
  const requests = metrics.counter({ name: 'r_total', help: 'Requests.', labels: ['api', 'op'] });
  const read = requests.with('nosql', 'read');
  read.add(2);
  requests.with('nosql', 'read').add(1);
  requests.with('nosql', 'a"b\\c\nd').add(1);
  expect(metrics.print()).toBe(
    [
      '# HELP r_total Requests.',
      '# TYPE r_total counter',
      'r_total{api="nosql",op="read"} 3',
      'r_total{api="nosql",op="a\\"b\\\\c\\nd"} 1',
      '',
    ].join('\n'),
  );
});

test('a histogram prints cumulative buckets, bounds inclusive', () => {
  const metrics = new Metrics();
  const latency = metrics.histogram({ name: 'l', help: 'Seconds.', labels: ['op'] }, [0.001, 0.1]);
  for (const seconds of [0.001, 0.05, 3]) latency.with('x').observe(seconds);
  expect(metrics.print().split('\n').slice(2)).toEqual([
    'l_bucket{op="x",le="0.001"} 1',
    'l_bucket{op="x",le="0.1"} 2',
    'l_bucket{op="x",le="+Inf"} 3',
    'l_sum{op="x"} 3.051',
    'l_count{op="x"} 3',
    '',
  ]);
});

test('gauges are set by collectors at every print; cleared series are gone', () => {
  const metrics = new Metrics();
  const items = metrics.gauge({ name: 'items', help: 'Items.', labels: ['p'] });
  let partitions = ['0', '1'];
  metrics.onCollect(() => {
    items.clear();
    for (const id of partitions) items.with(id).set(7);
  });
  expect(metrics.print()).toContain('items{p="1"} 7');
  partitions = ['0'];
  expect(metrics.print()).not.toContain('items{p="1"}');
});

test('a name is taken once, and every label needs a value', () => {
  const metrics = new Metrics();
  const series = metrics.counter({ name: 'a', help: '', labels: ['x'] });
  expect(() => metrics.gauge({ name: 'a', help: '' })).toThrow('one family per name');
  expect(() => series.with()).toThrow('one value per label');
});
