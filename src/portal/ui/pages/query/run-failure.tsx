/** What an API refused, in its words. */
import { firstLine } from '../../lib/api.ts';
import type { RunResult } from '../../lib/types.ts';
import { CopyButton } from '../../parts/copy.tsx';

export function RunFailure({ error }: { readonly error: NonNullable<RunResult['error']> }) {
  const message = firstLine(error.message);
  return (
    <section class="failure" role="alert">
      <strong>{error.code}</strong>
      <p class="message">{message.slice(0, 2000)}</p>
      <p class="row">
        {error.activityId !== undefined && <span class="muted">activity {error.activityId}</span>}
        <CopyButton text={`${error.code}: ${error.message}`} label="Copy report" />
      </p>
    </section>
  );
}
