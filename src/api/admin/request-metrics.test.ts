// Goal: responses are counted in the right series. Method: a few reports, lines of the printed text.
import { expect, test } from 'vitest';
import { Metrics } from '../../base/index.ts';
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
  expect(lines).toContain('mesocosm_throttled_requests_total{api="nosql"} 1');
  expect(lines).toContain(`mesocosm_request_units_total{${labels},method="GET"} 3`);
  expect(lines).toContain(
    `mesocosm_request_duration_seconds_bucket{${labels},method="GET",le="0.0001"} 0`,
  );
  expect(lines).toContain(
    `mesocosm_request_duration_seconds_bucket{${labels},method="GET",le="0.00025"} 3`,
  );
});
