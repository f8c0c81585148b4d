/** The state of the whole account, live: the sidebar and the overview show it. */
import { signal } from '@preact/signals';
import { ask } from './api.ts';
import { watch } from './live.ts';
import type { Overview } from './types.ts';

export const overview = signal<Overview | undefined>(undefined);

/** The result ends it. */
export function watchAccount(): () => void {
  return watch<Overview>('overview', (state) => {
    if (state !== undefined) overview.value = state;
  });
}

/** For those who have just changed something and want to see it. */
export async function refreshAccount(): Promise<void> {
  overview.value = await ask<Overview>('overview');
}
