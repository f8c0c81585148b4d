/** Who looks, and whether this tab only reads. */
import { computed, signal } from '@preact/signals';
import type { Session } from './types.ts';

export const session = signal<Session | undefined>(undefined);

/** The switch in the bar: less than the session allows. */
const wantsReadOnly = signal(localStorage.getItem('read-only') === '1');

export const isReadOnly = computed(
  () => wantsReadOnly.value || session.value?.isReadOnly === true || session.value?.role === 'read',
);

/** Why a button that writes is off; undefined where it is on. */
export const readOnlyReason = computed(() => {
  if (session.value?.isReadOnly === true) return 'The server was started with --portal readonly.';
  if (session.value?.role === 'read') return 'You are logged in with a key that only reads.';
  return wantsReadOnly.value ? 'Read-only is switched on in the bar.' : undefined;
});

export function switchReadOnly(): void {
  wantsReadOnly.value = !wantsReadOnly.value;
  localStorage.setItem('read-only', wantsReadOnly.value ? '1' : '0');
}
