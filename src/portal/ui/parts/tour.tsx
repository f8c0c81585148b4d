/** A tour of the sample: one sentence for each place, while one looks at it. */
import { signal } from '@preact/signals';
import { containerPath, navigate } from '../lib/router.ts';

interface Stop {
  readonly path: string;
  readonly text: string;
}

const ORDERS = ['shop', 'orders'] as const;

const STOPS: readonly Stop[] = [
  {
    path: containerPath(...ORDERS, 'partitions'),
    text: 'Each box is a partition with a third of the RU/s. Colour is its busiest second: one is far hotter than the others. Below, "Keys by RU" names the key that does it.',
  },
  {
    path: containerPath(...ORDERS, 'data'),
    text: 'The items. The filter is the WHERE of a query; a click opens an item, and saving never overwrites what somebody else wrote meanwhile.',
  },
  {
    path: containerPath(...ORDERS, 'query'),
    text: 'Run a query with Ctrl+Enter. Beside the rows: what each kind of work cost, how many partitions it began in, and what it would cost with one key.',
  },
  {
    path: containerPath(...ORDERS, 'feed'),
    text: 'Every change, in order, live: from the beginning, from now, from a time.',
  },
  {
    path: '/monitor',
    text: 'Requests of all APIs with their latencies, and the queries that cost most.',
  },
  { path: '/keys', text: 'Keys, connection strings, and programs to paste in seven languages.' },
];

const step = signal<number | undefined>(undefined);

export function startTour(): void {
  go(0);
}

function go(to: number): void {
  const stop = STOPS[to];
  step.value = stop === undefined ? undefined : to;
  if (stop !== undefined) navigate(stop.path);
}

export function Tour() {
  const at = step.value;
  const stop = at === undefined ? undefined : STOPS[at];
  if (at === undefined || stop === undefined) return null;
  return (
    <aside class="tour" aria-label="Tour">
      <p role="status">
        <strong>
          {at + 1} of {STOPS.length}
        </strong>{' '}
        {stop.text}
      </p>
      <p class="row">
        <button type="button" disabled={at === 0} onClick={() => go(at - 1)}>
          Back
        </button>
        <button type="button" class="primary" onClick={() => go(at + 1)}>
          {at + 1 === STOPS.length ? 'Finish' : 'Next'}
        </button>
        <button type="button" class="quiet" onClick={() => go(STOPS.length)}>
          End the tour
        </button>
      </p>
    </aside>
  );
}
