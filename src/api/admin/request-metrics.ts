/** Requests, charges, refusals and latency, by API, resource and method. Each request costs four additions. */
import type { Counter, Histogram, Metrics, Series } from '../../base/index.ts';
import type { RequestReport } from '../../http/index.ts';

/** Resource and method come from small fixed sets, so that series stay few. */
type RequestObserver = (request: RequestReport) => void;

/** Seconds; from a cached point read to the longest a request may take. */
const LATENCY_BOUNDS_SEC = [
  0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10,
];

const THROTTLED = 429;

interface OperationMetrics {
  readonly labels: readonly string[];
  readonly byStatus: Map<number, Counter>;
  readonly requestUnits: Counter;
  readonly latency: Histogram;
}

const OPERATION_LABELS = ['api', 'resource', 'method'];

export class RequestMetrics {
  readonly #requests: Series<Counter>;
  readonly #throttled: Series<Counter>;
  readonly #requestUnits: Series<Counter>;
  readonly #latency: Series<Histogram>;

  constructor(metrics: Metrics) {
    this.#requests = metrics.counter({
      name: 'mesocosm_requests_total',
      help: 'Requests answered.',
      labels: [...OPERATION_LABELS, 'status'],
    });
    this.#throttled = metrics.counter({
      name: 'mesocosm_throttled_requests_total',
      help: 'Requests refused because their partition had no request units left.',
      labels: ['api'],
    });
    this.#requestUnits = metrics.counter({
      name: 'mesocosm_request_units_total',
      help: 'Request units charged.',
      labels: OPERATION_LABELS,
    });
    this.#latency = metrics.histogram(
      {
        name: 'mesocosm_request_duration_seconds',
        help: 'Time from the head of a request to its answer.',
        labels: OPERATION_LABELS,
      },
      LATENCY_BOUNDS_SEC,
    );
  }

  /** The observer of one API. */
  forApi(api: string): RequestObserver {
    // Two maps instead of one with a joined key: no string is made per request.
    const resources = new Map<string, Map<string, OperationMetrics>>();
    const throttled = this.#throttled.with(api);
    return ({ resource, method, status, charge, durationMs }) => {
      const operation =
        resources.get(resource)?.get(method) ?? this.#resolve(resources, [api, resource, method]);
      const answered = operation.byStatus.get(status) ?? this.#resolveStatus(operation, status);
      answered.value += 1;
      operation.requestUnits.value += charge;
      operation.latency.observe(durationMs / 1000);
      if (status === THROTTLED) throttled.value += 1;
    };
  }

  #resolve(
    resources: Map<string, Map<string, OperationMetrics>>,
    labels: readonly [string, string, string],
  ): OperationMetrics {
    const [, resource, method] = labels;
    const methods = resources.get(resource) ?? new Map<string, OperationMetrics>();
    const operation: OperationMetrics = {
      labels,
      byStatus: new Map(),
      requestUnits: this.#requestUnits.with(...labels),
      latency: this.#latency.with(...labels),
    };
    resources.set(resource, methods.set(method, operation));
    return operation;
  }

  #resolveStatus({ labels, byStatus }: OperationMetrics, status: number): Counter {
    const counter = this.#requests.with(...labels, String(status));
    byStatus.set(status, counter);
    return counter;
  }
}
