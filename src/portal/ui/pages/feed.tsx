/** The change feed, live: every write of the container in the order of its partitions. */
import { useEffect, useRef, useState } from 'preact/hooks';
import { ask, nosql, parseExact } from '../lib/api.ts';
import { count } from '../lib/format.ts';
import type { PartitionsReport } from '../lib/types.ts';
import { Grid } from '../parts/grid.tsx';
import { Empty, Failure } from '../parts/states.tsx';

type Start = 'beginning' | 'now' | 'time' | 'token';
type Mode = 'latest' | 'all';

const POLL_MS = 1000;
const ROWS_MAX = 2000;

interface FeedProps {
  readonly db: string;
  readonly container: string;
}

export function FeedPage({ db, container }: FeedProps) {
  const [start, setStart] = useState<Start>('beginning');
  const [mode, setMode] = useState<Mode>('latest');
  const [time, setTime] = useState(() =>
    new Date(Date.now() - 3_600_000).toISOString().slice(0, 16),
  );
  const [token, setToken] = useState('');
  const [isPaused, setPaused] = useState(false);
  const feed = useFeed({ db, container, start, mode, time, token, isPaused });
  return (
    <>
      <div class="row">
        <label>
          From{' '}
          <select value={start} onChange={(event) => setStart(event.currentTarget.value as Start)}>
            <option value="beginning">the beginning</option>
            <option value="now">now on</option>
            <option value="time">a time</option>
            <option value="token">a token</option>
          </select>
        </label>
        {start === 'time' && (
          <input
            type="datetime-local"
            aria-label="Time (UTC)"
            value={time}
            onInput={(event) => setTime(event.currentTarget.value)}
          />
        )}
        {start === 'token' && (
          <input
            type="text"
            aria-label="Continuation token"
            placeholder={'"17"'}
            value={token}
            onInput={(event) => setToken(event.currentTarget.value)}
          />
        )}
        <label>
          Mode{' '}
          <select value={mode} onChange={(event) => setMode(event.currentTarget.value as Mode)}>
            <option value="latest">latest version of each item</option>
            <option value="all">all versions and deletes</option>
          </select>
        </label>
        <button type="button" aria-pressed={isPaused} onClick={() => setPaused(!isPaused)}>
          {isPaused ? 'Go on' : 'Pause'}
        </button>
        <span class="muted" role="status">
          {count(feed.total)} changes
          {feed.rows.length < feed.total ? `, the last ${count(feed.rows.length)} are shown` : ''}
        </span>
      </div>
      {feed.error !== undefined && <Failure error={feed.error} />}
      {mode === 'all' && feed.error !== undefined && (
        <p class="muted">
          All versions are kept where the container has a change feed policy with a retention: see
          Settings.
        </p>
      )}
      {feed.rows.length === 0 && feed.error === undefined ? (
        <Empty title="No changes yet">
          <p>Write an item, by any API: it appears here within a second.</p>
        </Empty>
      ) : (
        <Grid rows={feed.rows} label="Changes, newest first" />
      )}
    </>
  );
}

interface FeedOptions extends FeedProps {
  readonly start: Start;
  readonly mode: Mode;
  readonly time: string;
  readonly token: string;
  readonly isPaused: boolean;
}

interface Feed {
  readonly rows: readonly unknown[];
  readonly total: number;
  readonly error: unknown;
}

function useFeed(options: FeedOptions): Feed {
  const { db, container, start, mode, time, token, isPaused } = options;
  const [feed, setFeed] = useState<Feed>({ rows: [], total: 0, error: undefined });
  const positions = useRef(new Map<string, string>());
  useEffect(() => {
    positions.current = new Map();
    setFeed({ rows: [], total: 0, error: undefined });
  }, [db, container, start, mode, time, token]);
  useEffect(() => {
    if (isPaused) return;
    let isGone = false;
    const poll = async (): Promise<void> => {
      try {
        const changes = await nextChanges(options, positions.current);
        if (isGone) return;
        if (changes.length > 0)
          setFeed((before) => ({
            rows: [...changes.toReversed(), ...before.rows].slice(0, ROWS_MAX),
            total: before.total + changes.length,
            error: undefined,
          }));
      } catch (error) {
        if (!isGone) setFeed((before) => ({ ...before, error }));
      }
      if (!isGone) timer = setTimeout(() => void poll(), POLL_MS);
    };
    let timer = setTimeout(() => void poll(), 0);
    return () => {
      isGone = true;
      clearTimeout(timer);
    };
  }, [db, container, start, mode, time, token, isPaused]);
  return feed;
}

/** One page of every partition. A new partition begins where its parents are read on by their tokens. */
async function nextChanges(
  options: FeedOptions,
  positions: Map<string, string>,
): Promise<readonly unknown[]> {
  const { db, container, start, mode, time, token } = options;
  const { partitions } = await ask<PartitionsReport>('partitions', { db, container });
  const changes: unknown[] = [];
  for (const { id } of partitions) {
    const position =
      positions.get(id) ??
      (start === 'now' ? '*' : start === 'token' && token !== '' ? token : undefined);
    const reply = await nosql(['dbs', db, 'colls', container, 'docs'], {
      headers: {
        'a-im': mode === 'latest' ? 'Incremental feed' : 'Full-Fidelity Feed',
        'x-ms-max-item-count': '100',
        'x-ms-documentdb-partitionkeyrangeid': id,
        ...(mode === 'all' && { 'x-ms-cosmos-changefeed-wire-format-version': '2021-09-15' }),
        ...(position === undefined ? {} : { 'if-none-match': position }),
        ...(position === undefined &&
          start === 'time' && { 'if-modified-since': new Date(`${time}Z`).toUTCString() }),
      },
    });
    const next = reply.headers.get('etag');
    if (next !== null) positions.set(id, next);
    if (reply.status === 304 || reply.text === '') continue;
    const { Documents = [] } = parseExact(reply.text) as { Documents?: readonly unknown[] };
    for (const document of Documents) changes.push(document);
  }
  return changes;
}
