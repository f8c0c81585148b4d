/** What a page shows when it has nothing, not yet, or no more. */
import type { ComponentChildren } from 'preact';
import { useRef, useState } from 'preact/hooks';
import { ApiError } from '../lib/api.ts';
import { useInterval } from '../lib/loaded.ts';
import { CopyButton } from './copy.tsx';

export function Loading({ what }: { readonly what: string }) {
  return (
    <div class="state" role="status">
      <span class="spinner" aria-hidden="true" /> Loading {what}…
    </div>
  );
}

export function Empty({
  title,
  isPage = false,
  children,
}: {
  readonly title: string;
  /** True where it is all that the page shows. */
  readonly isPage?: boolean;
  readonly children: ComponentChildren;
}) {
  return (
    <section class="empty">
      {isPage ? <h1>{title}</h1> : <h2>{title}</h2>}
      {children}
    </section>
  );
}

/** Readers of screens hear it at most this often. */
const SAID_MS = 10_000;

/** A text that changes while one looks at it: said now and then, and not shown. */
export function LiveText({ text }: { readonly text: string }) {
  const [said, setSaid] = useState(text);
  const latest = useRef(text);
  latest.current = text;
  useInterval(() => setSaid(latest.current), SAID_MS);
  return (
    <span class="offscreen" role="status">
      {said}
    </span>
  );
}

/** What went wrong, why, what to do, and the id under which the server knows it. */
export function Failure({
  error,
  onRetry,
}: {
  readonly error: unknown;
  readonly onRetry?: () => void;
}) {
  const text = error instanceof Error ? error.message : String(error);
  const known = error instanceof ApiError ? error : undefined;
  const advice = known === undefined ? undefined : adviceFor(known.status);
  const report = [text, known?.code, known?.activityId && `activity ${known.activityId}`].filter(
    Boolean,
  );
  return (
    <section class="failure" role="alert">
      <strong>
        {known === undefined ? 'Something failed' : `${known.status || ''} ${known.code}`}
      </strong>
      <p class="message">{text.slice(0, 2000)}</p>
      {advice && <p class="muted">{advice}</p>}
      <p class="row">
        {onRetry && (
          <button type="button" onClick={onRetry}>
            Try again
          </button>
        )}
        <CopyButton text={report.join('\n')} label="Copy report" />
      </p>
    </section>
  );
}

function adviceFor(status: number): string | undefined {
  switch (status) {
    case 0:
      return 'Start it again with npm start; this page goes on by itself.';
    case 401:
      return 'The session has ended: load the page again and log in.';
    case 403:
      return 'This role only reads. Switch read-only off, or log in with a key that may write.';
    case 404:
      return 'It may have been deleted meanwhile.';
    case 412:
      return 'Somebody changed it after it was loaded.';
    case 429:
      return 'The partition has no request units left: wait, or scale the container.';
    default:
      return undefined;
  }
}

/** Shows the value, or why there is none. */
export function Await<T>({
  loaded,
  what,
  children,
}: {
  readonly loaded: { readonly value: T | undefined; readonly error: unknown; reload(): void };
  readonly what: string;
  readonly children: (value: T) => ComponentChildren;
}) {
  if (loaded.value !== undefined)
    return (
      <>
        {loaded.error !== undefined && <Failure error={loaded.error} onRetry={loaded.reload} />}
        {children(loaded.value)}
      </>
    );
  if (loaded.error !== undefined) return <Failure error={loaded.error} onRetry={loaded.reload} />;
  return <Loading what={what} />;
}
