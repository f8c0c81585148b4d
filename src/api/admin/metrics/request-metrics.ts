/** Requests, charges, refusals and latency, by API, resource and method. Each request costs five additions. */
import type { Counter, Histogram, Metrics, Series } from '../../../base/index.ts';
import type { RequestReport } from '../../../http/index.ts';
import type { OperationOutcome, OperationReport } from '../../../service/index.ts';

/** Resource and method come from small fixed sets, so that series stay few. */
type RequestObserver = (request: RequestReport) => void;

/** Seconds; from a cached point read to the longest a request may take. */
const LATENCY_BOUNDS_SEC = [
  0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10,
];

const THROTTLED = 429;

interface OperationMetrics {
  readonly labels: readonly [api: string, resource: string, method: string];
  readonly byStatus: Map<number | OperationOutcome, Answered>;
  readonly requestUnits: Counter;
  readonly latency: Histogram;
}

/** The counters of one status of one operation. */
interface Answered {
  readonly requests: Counter;
  readonly outcomes: Counter;
}

const OPERATION_LABELS = ['api', 'resource', 'method'];

/** One operation since the process began. */
interface OperationReportRow {
  readonly api: string;
  readonly resource: string;
  readonly method: string;
  readonly requests: number;
  readonly byStatus: Readonly<Record<string, number>>;
  readonly requestUnits: number;
  readonly latency: Histogram;
}

export class RequestMetrics {
  readonly #operations: OperationMetrics[] = [];
  readonly #requests: Series<Counter>;
  readonly #outcomes: Series<Counter>;
  readonly #throttled: Series<Counter>;
  readonly #requestUnits: Series<Counter>;
  readonly #latency: Series<Histogram>;

  constructor(metrics: Metrics) {
    this.#requests = metrics.counter({
      name: 'mesocosm_requests_total',
      help: 'Requests answered.',
      labels: [...OPERATION_LABELS, 'status'],
    });
    this.#outcomes = metrics.counter({
      name: 'mesocosm_outcomes_total',
      help: 'Requests answered, by how they ended: ok, failed, or why they were refused.',
      labels: ['api', 'outcome'],
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

  /** Every operation so far. */
  report(): readonly OperationReportRow[] {
    return this.#operations.map(({ labels, byStatus, requestUnits, latency }) => {
      const counts = [...byStatus].map(([status, { requests }]) => [status, requests.value]);
      const [api, resource, method] = labels;
      return {
        api,
        resource,
        method,
        requests: counts.reduce((sum, [, count]) => sum + Number(count), 0),
        byStatus: Object.fromEntries(counts),
        requestUnits: requestUnits.value,
        latency,
      };
    });
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
      answered.requests.value += 1;
      answered.outcomes.value += 1;
      operation.requestUnits.value += charge;
      operation.latency.observe(durationMs / 1000);
      if (status === THROTTLED) throttled.value += 1;
    };
  }

  /** The observer of an API without HTTP: the operation is its resource, the outcome its status. */
  forOperations(api: string): (report: OperationReport) => void {
    const resources = new Map<string, Map<string, OperationMetrics>>();
    const throttled = this.#throttled.with(api);
    return ({ operation, outcome, charge, durationMs }) => {
      const metrics =
        resources.get(operation)?.get('') ?? this.#resolve(resources, [api, operation, '']);
      const answered = metrics.byStatus.get(outcome) ?? this.#resolveStatus(metrics, outcome);
      answered.requests.value += 1;
      answered.outcomes.value += 1;
      metrics.requestUnits.value += charge;
      metrics.latency.observe(durationMs / 1000);
      if (outcome === 'throttled' || outcome === 'bucketThrottled') throttled.value += 1;
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
    this.#operations.push(operation);
    return operation;
  }

  #resolveStatus(
    { labels, byStatus }: OperationMetrics,
    status: number | OperationOutcome,
  ): Answered {
    const outcome = typeof status === 'number' ? outcomeOf(status) : status;
    const answered = {
      requests: this.#requests.with(...labels, String(status)),
      outcomes: this.#outcomes.with(labels[0], outcome),
    };
    byStatus.set(status, answered);
    return answered;
  }
}

/** The nearest outcome: several have the same status. */
const OUTCOMES: Readonly<Record<number, OperationOutcome>> = {
  401: 'unauthorized',
  403: 'forbidden',
  404: 'resourceNotFound',
  409: 'resourceExists',
  410: 'partitionGone',
  412: 'preconditionFailed',
  413: 'tooLarge',
  429: 'throttled',
  449: 'retryWith',
  503: 'unavailable',
};

function outcomeOf(status: number): OperationOutcome {
  if (status < 400) return 'ok';
  return OUTCOMES[status] ?? (status < 500 ? 'invalidInput' : 'failed');
}
