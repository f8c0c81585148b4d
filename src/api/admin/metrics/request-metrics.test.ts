// Goal: responses are counted in the right series. Method: a few reports, lines of the printed text.
import { expect, test } from 'vitest';
import { Metrics } from '../../../base/index.ts';
import { RequestMetrics } from './request-metrics.ts';

test('requests, charges, refusals and latency', () => {
  const metrics = new Metrics();
  const observe = new RequestMetrics(metrics).forApi('nosql');
  const read = { resource: 'docs', method: 'GET', charge: 1, durationMs: 0.2 };
  observe({ ...read, status: 200 });
  observe({ ...read, status: 200 });
  observe({ ...read, status: 404 });
  observe({ resource: 'docs', method: 'POST', status: 429, charge: 0.5, durationMs: 30 });
  const lines = metrics.print().split('\n');
  const labels = 'api="nosql",resource="docs"';
  expect(lines).toContain(`mesocosm_requests_total{${labels},method="GET",status="200"} 2`);
  expect(lines).toContain(`mesocosm_requests_total{${labels},method="GET",status="404"} 1`);
  expect(lines).toContain(`mesocosm_requests_total{${labels},method="POST",status="429"} 1`);
  expect(lines.filter((line) => line.startsWith('mesocosm_outcomes_total'))).toEqual([
    'mesocosm_outcomes_total{api="nosql",outcome="ok"} 2',
    'mesocosm_outcomes_total{api="nosql",outcome="resourceNotFound"} 1',
    'mesocosm_outcomes_total{api="nosql",outcome="throttled"} 1',
  ]);
  expect(lines).toContain('mesocosm_throttled_requests_total{api="nosql"} 1');
  expect(lines).toContain(`mesocosm_request_units_total{${labels},method="GET"} 3`);
  expect(lines).toContain(
    `mesocosm_request_duration_seconds_bucket{${labels},method="GET",le="0.0001"} 0`,
  );
  expect(lines).toContain(
    `mesocosm_request_duration_seconds_bucket{${labels},method="GET",le="0.00025"} 3`,
  );
});

test('an API without HTTP reports operations and outcomes', () => {
  const metrics = new Metrics();
  const observe = new RequestMetrics(metrics).forOperations('mongo');
  observe({ operation: 'insert', outcome: 'ok', charge: 5, durationMs: 0.2 });
  observe({ operation: 'insert', outcome: 'throttled', charge: 0, durationMs: 0.2 });
  observe({ operation: 'find', outcome: 'failed', charge: 1, durationMs: 0.2 });
  const lines = metrics.print().split('\n');
  const insert = 'api="mongo",resource="insert",method=""';
  const find = 'api="mongo",resource="find",method=""';
  expect(lines).toContain(`mesocosm_requests_total{${insert},status="ok"} 1`);
  expect(lines).toContain(`mesocosm_requests_total{${insert},status="throttled"} 1`);
  expect(lines).toContain(`mesocosm_requests_total{${find},status="failed"} 1`);
  expect(lines).toContain('mesocosm_outcomes_total{api="mongo",outcome="ok"} 1');
  expect(lines).toContain('mesocosm_outcomes_total{api="mongo",outcome="failed"} 1');
  expect(lines).toContain('mesocosm_throttled_requests_total{api="mongo"} 1');
  expect(lines).toContain(`mesocosm_request_units_total{${insert}} 5`);
});
