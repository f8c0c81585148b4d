/** Keys by request units and by bytes, and the latest splits, side by side. */
import { bytes, count, keyText, percent, units } from '../lib/format.ts';
import type { HotKeys, Resize } from '../lib/types.ts';
import { Bar } from '../parts/sparkline.tsx';

const SHOWN_MAX = 8;

interface CardsProps {
  readonly hotKeys: HotKeys | undefined;
  readonly splits: readonly Resize[];
  readonly keyLimit: number;
}

export function KeyCards({ hotKeys, splits, keyLimit }: CardsProps) {
  const hot = hotKeys?.byRequestUnits ?? [];
  const all = hot.reduce((sum, { requestUnits }) => sum + requestUnits, 0);
  const heavy = hotKeys?.largest ?? [];
  const moved = hotKeys?.byBytes ?? [];
  return (
    <div class="cards">
      <section class="card" data-card="hot-keys">
        <h2>
          Keys by RU <small>last {hotKeys?.minutes ?? 5} minutes</small>
        </h2>
        {hot.length === 0 && <p class="muted">No requests in the last minutes.</p>}
        <ol class="ranks">
          {hot.slice(0, SHOWN_MAX).map(({ key, hash, partition, requestUnits, percent: own }) => (
            <li key={`${partition}/${hash}`}>
              <code>{keyText(key, hash)}</code>
              <span class="muted">
                p{partition} · {units(requestUnits)} RU · {percent(own)} of its partition
              </span>
              <Bar share={all === 0 ? 0 : requestUnits / all} isHot={own > 40} />
            </li>
          ))}
        </ol>
      </section>
      <section class="card">
        <h2>
          Keys by bytes{' '}
          <small>
            {heavy.length > 0 ? `of ${bytes(keyLimit)} that a key may hold` : 'read and written'}
          </small>
        </h2>
        {heavy.length === 0 && moved.length === 0 && <p class="muted">No key is near its limit.</p>}
        <ol class="ranks">
          {(heavy.length > 0 ? heavy : moved)
            .slice(0, SHOWN_MAX)
            .map(({ key, hash, partition, bytes: size }) => (
              <li key={`${partition}/${hash}`}>
                <code>{keyText(key, hash)}</code>
                <span class="muted">
                  p{partition} · {bytes(size)}
                </span>
                <Bar
                  share={size / (heavy.length > 0 ? keyLimit : Math.max(1, moved[0]?.bytes ?? 1))}
                />
              </li>
            ))}
        </ol>
      </section>
      <section class="card">
        <h2>Splits and merges</h2>
        {splits.length === 0 && (
          <p class="muted">None so far: partitions split when they are full, hot, or too few.</p>
        )}
        <ol class="ranks">
          {splits.slice(0, SHOWN_MAX).map((resize) => (
            <li key={`${resize.startedAt}${resize.children.join()}`}>
              {new Date(resize.startedAt).toLocaleTimeString('en-GB')} {resize.parents.join('+')} →{' '}
              {resize.children.join(', ')}
              <span class="muted">
                {causeText(resize.cause)}
                {resize.bytesCopied === null ? '' : ` · ${bytes(resize.bytesCopied)} copied`}
                {resize.pauseMs === null ? '' : ` · writers waited ${count(resize.pauseMs)} ms`}
                {resize.state === 'done' ? '' : ` · ${resize.state}`}
              </span>
            </li>
          ))}
        </ol>
      </section>
    </div>
  );
}

const CAUSES: Readonly<Record<string, string>> = {
  storage: 'full',
  throughput: 'throughput was changed',
  heat: 'hot',
  hand: 'by hand',
};

export function causeText(cause: string | null): string {
  return cause === null ? 'made with the container' : (CAUSES[cause] ?? cause);
}
