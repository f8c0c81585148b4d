/** Keys of the whole page: `g` and a letter for places, `?` for help, Ctrl+K for the palette, `/` for the search of a page. */
import { signal } from '@preact/signals';
import { type ContainerTab, containerPath, navigate, place } from './router.ts';

export const isPaletteOpen = signal(false);
export const isHelpOpen = signal(false);
/** After `g`: the next key names a place. It waits as long as the person does. */
export const isGoing = signal(false);

const PLACES: Readonly<Record<string, string>> = {
  o: '/',
  k: '/keys',
  m: '/monitor',
  c: '/compare',
};
const TABS: Readonly<Record<string, ContainerTab>> = {
  p: 'partitions',
  d: 'data',
  q: 'query',
  f: 'feed',
  s: 'scripts',
  e: 'settings',
};

addEventListener('keydown', (event) => {
  if ((event.ctrlKey || event.metaKey) && event.key.toLowerCase() === 'k') {
    event.preventDefault();
    isPaletteOpen.value = true;
    return;
  }
  if (isTyping(event.target) || event.ctrlKey || event.metaKey || event.altKey) return;
  if (isGoing.value) {
    if (event.key === 'Shift') return;
    isGoing.value = false;
    go(event.key);
    return;
  }
  if (event.key === 'g') isGoing.value = true;
  else if (event.key === '?') isHelpOpen.value = true;
  else if (event.key === '/') {
    const search = document.querySelector<HTMLElement>('[data-search]');
    if (search === null) return;
    event.preventDefault();
    search.focus();
  }
});

addEventListener('pointerdown', () => {
  isGoing.value = false;
});

function go(key: string): void {
  const here = place.value;
  const tab = TABS[key];
  const path = PLACES[key];
  if (tab !== undefined && here.page === 'container')
    navigate(containerPath(here.db, here.container, tab));
  else if (path !== undefined) navigate(path);
}

function isTyping(target: EventTarget | null): boolean {
  return (
    target instanceof HTMLElement &&
    target.closest('input, textarea, select, [contenteditable]') !== null
  );
}
