/** Light or dark: as the system has it, or as the person chose. */
import { effect, signal } from '@preact/signals';

export type Theme = 'system' | 'light' | 'dark';

const stored = localStorage.getItem('theme');
export const theme = signal<Theme>(stored === 'light' || stored === 'dark' ? stored : 'system');

effect(() => {
  document.documentElement.dataset.theme = theme.value;
  localStorage.setItem('theme', theme.value);
});

export function nextTheme(): void {
  theme.value = theme.value === 'system' ? 'dark' : theme.value === 'dark' ? 'light' : 'system';
}
