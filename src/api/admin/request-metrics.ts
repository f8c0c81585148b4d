/** Requests, charges, refusals and latency, by API and operation. Each request costs four additions. */
import type { Counter, Histogram, Metrics, Series } from '../../base/index.ts';

/** Called once per answered request, by the API that answered it. */
export type RequestObserver = (
  operation: string,
  status: number,
  requestUnits: number,
  durationMs: number,
) => void;

/** Seconds; from a cached point read to the longest a request may take. */
const LATENCY_BOUNDS_SEC = [
  0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10,
];

const THROTTLED = 429;

interface OperationMetrics {
  readonly byStatus: Map<number, Counter>;
  readonly requestUnits: Counter;
  readonly latency: Histogram;
}

export class RequestMetrics {
  readonly #requests: Series<Counter>;
  readonly #throttled: Series<Counter>;
  readonly #requestUnits: Series<Counter>;
  readonly #latency: Series<Histogram>;

  constructor(metrics: Metrics) {
    this.#requests = metrics.counter({
      name: 'mesocosm_requests_total',
      help: 'Requests answered.',
      labels: ['api', 'operation', 'status'],
    });
    this.#throttled = metrics.counter({
      name: 'mesocosm_throttled_requests_total',
      help: 'Requests refused because their partition had no request units left.',
      labels: ['api'],
    });
    this.#requestUnits = metrics.counter({
      name: 'mesocosm_request_units_total',
      help: 'Request units charged.',
      labels: ['api', 'operation'],
    });
    this.#latency = metrics.histogram(
      {
        name: 'mesocosm_request_duration_seconds',
        help: 'Time from the whole request to its answer.',
        labels: ['api', 'operation'],
      },
      LATENCY_BOUNDS_SEC,
    );
  }

  /** The observer of one API; operation names must come from a small fixed set. */
  forApi(api: string): RequestObserver {
    const operations = new Map<string, OperationMetrics>();
    const throttled = this.#throttled.with(api);
    return (operation, status, requestUnits, durationMs) => {
      let metrics = operations.get(operation);
      if (metrics === undefined) {
        metrics = this.#operation(api, operation);
        operations.set(operation, metrics);
      }
      let answered = metrics.byStatus.get(status);
      if (answered === undefined) {
        answered = this.#requests.with(api, operation, String(status));
        metrics.byStatus.set(status, answered);
      }
      answered.value += 1;
      metrics.requestUnits.value += requestUnits;
      metrics.latency.observe(durationMs / 1000);
      if (status === THROTTLED) throttled.value += 1;
    };
  }

  #operation(api: string, operation: string): OperationMetrics {
    return {
      byStatus: new Map(),
      requestUnits: this.#requestUnits.with(api, operation),
      latency: this.#latency.with(api, operation),
    };
  }
}
