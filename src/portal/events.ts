/**
 * Server-sent events: the newest state of each topic, once a second. A client that is slow misses states and never the
 * newest one. All viewers of a topic share one report.
 */
import type { Exchange, ResponseStream } from '../http/index.ts';

/** Makes the state of a topic as JSON; undefined for a topic that does not exist. Opens no partition. */
type TopicReporter = (topic: string) => string | undefined;

const INTERVAL_MS = 1000;
/** Keeps proxies from closing a quiet stream. */
const COMMENT_EVERY = 15;
const TOPICS_MAX = 16;
const STREAMS_MAX = 200;

interface Stream {
  readonly topics: readonly string[];
  readonly body: ResponseStream;
  /** What was sent last, by topic: a state that did not change is not sent again. */
  readonly sent: Map<string, string>;
  isSlow: boolean;
}

export class Events {
  readonly #report: TopicReporter;
  readonly #streams = new Set<Stream>();
  #timer: NodeJS.Timeout | undefined;
  #tick = 0;

  constructor(report: TopicReporter) {
    this.#report = report;
  }

  /** Number of open streams. */
  get count(): number {
    return this.#streams.size;
  }

  /** The states of these topics now, for those who ask again. */
  states(topics: readonly string[]): object {
    const now = topics.slice(0, TOPICS_MAX).map((topic) => {
      const state = this.#report(topic);
      return [topic, state === undefined ? null : JSON.parse(state)];
    });
    return Object.fromEntries(now);
  }

  /** False where this connection cannot carry a stream, or there are too many. */
  open(exchange: Exchange, topics: readonly string[], headers: string[]): boolean {
    if (this.#streams.size >= STREAMS_MAX) return false;
    const body = exchange.stream?.(200, [
      ...headers,
      'content-type',
      'text/event-stream',
      'cache-control',
      'no-store',
      'x-accel-buffering',
      'no',
    ]);
    if (body === undefined) return false;
    const stream: Stream = {
      topics: topics.slice(0, TOPICS_MAX),
      body,
      sent: new Map(),
      isSlow: false,
    };
    this.#streams.add(stream);
    body.onClose(() => {
      this.#streams.delete(stream);
      if (this.#streams.size === 0) this.#stopTimer();
    });
    body.write('retry: 2000\n\n');
    this.#send(stream, new Map());
    this.#timer ??= setInterval(() => this.#sendAll(), INTERVAL_MS).unref();
    return true;
  }

  /** Ends all streams; the server stops. */
  close(): void {
    for (const { body } of this.#streams) body.end();
    this.#streams.clear();
    this.#stopTimer();
  }

  #stopTimer(): void {
    clearInterval(this.#timer);
    this.#timer = undefined;
  }

  #sendAll(): void {
    this.#tick++;
    const states = new Map<string, string | undefined>();
    for (const stream of this.#streams) this.#send(stream, states);
  }

  #send(stream: Stream, states: Map<string, string | undefined>): void {
    // A client that has not taken the last states gets the newest one when it has.
    if (stream.isSlow) {
      stream.isSlow = !stream.body.write(': wait\n\n');
      return;
    }
    let text = this.#tick % COMMENT_EVERY === 0 ? ': alive\n\n' : '';
    for (const topic of stream.topics) {
      if (!states.has(topic)) states.set(topic, this.#report(topic));
      const state = states.get(topic) ?? 'null';
      if (stream.sent.get(topic) === state) continue;
      stream.sent.set(topic, state);
      text += `id: ${this.#tick}\nevent: ${topic}\ndata: ${state}\n\n`;
    }
    text += `event: tick\ndata: ${Date.now()}\n\n`;
    stream.isSlow = !stream.body.write(text);
  }
}

/** The names after `topics=`, separated by commas. */
export function topicsIn(query: URLSearchParams): readonly string[] {
  return (query.get('topics') ?? '').split(',').filter((topic) => topic !== '');
}
