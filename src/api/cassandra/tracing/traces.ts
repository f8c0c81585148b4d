/** Requests that clients have asked to trace, as system_traces shows them. The last ones are remembered. */
import { LRUCache } from 'lru-cache';
import type { Clock } from '../../../base/index.ts';
import { TRACE_EVENTS_MAX, TRACES_MAX } from '../limits.ts';
import type { LocalNode } from '../system/system-rows.ts';
import type { SystemRow } from '../system/system-tables.ts';

interface TraceStart {
  readonly command: 'QUERY' | 'PREPARE' | 'EXECUTE' | 'BATCH';
  readonly request: string;
  readonly client: string;
  readonly node: LocalNode;
  readonly parameters: Readonly<Record<string, string>>;
}

interface TraceEvent {
  /** A timeuuid. */
  readonly id: string;
  readonly activity: string;
  readonly elapsedMicroseconds: number;
}

/** One traced request, while it runs and afterwards. */
export class Trace {
  readonly id: string;
  readonly start: TraceStart;
  readonly startedMs: number;
  readonly events: TraceEvent[] = [];
  durationMicroseconds: number | undefined;
  readonly #sinceMs = performance.now();
  readonly #newId: () => string;

  constructor(start: TraceStart, startedMs: number, newId: () => string) {
    this.start = start;
    this.startedMs = startedMs;
    this.#newId = newId;
    this.id = newId();
  }

  add(activity: string): void {
    if (this.events.length >= TRACE_EVENTS_MAX) return;
    this.events.push({ id: this.#newId(), activity, elapsedMicroseconds: this.#elapsed() });
  }

  finish(): void {
    this.durationMicroseconds = this.#elapsed();
  }

  #elapsed(): number {
    return Math.round((performance.now() - this.#sinceMs) * 1000);
  }
}

export class Traces {
  readonly #clock: Clock;
  readonly #newId: () => string;
  readonly #traces = new LRUCache<string, Trace>({ max: TRACES_MAX });

  constructor(clock: Clock, newId: () => string) {
    this.#clock = clock;
    this.#newId = newId;
  }

  begin(start: TraceStart): Trace {
    const trace = new Trace(start, this.#clock.nowMs(), this.#newId);
    this.#traces.set(trace.id, trace);
    return trace;
  }

  /** Rows of system_traces.sessions. */
  sessions(): readonly SystemRow[] {
    return [...this.#traces.values()].map((trace) => {
      const { command, request, client, node, parameters } = trace.start;
      return {
        session_id: trace.id,
        client,
        command,
        coordinator: node.address,
        coordinator_port: node.port,
        duration: trace.durationMicroseconds ?? null,
        parameters,
        request,
        started_at: new Date(trace.startedMs).toISOString(),
      };
    });
  }

  /** Rows of system_traces.events. */
  events(): readonly SystemRow[] {
    return [...this.#traces.values()].flatMap(({ id, start, events }) =>
      events.map((event) => ({
        session_id: id,
        event_id: event.id,
        activity: event.activity,
        source: start.node.address,
        source_elapsed: event.elapsedMicroseconds,
        source_port: start.node.port,
        thread: 'Native-Transport-Requests-1',
      })),
    );
  }
}
