/** Places of the page: paths with names as in URLs. */
import { computed, signal } from '@preact/signals';

const path = signal(location.pathname + location.search);

export type ContainerTab = 'partitions' | 'data' | 'query' | 'feed' | 'scripts' | 'settings';

export const CONTAINER_TABS: readonly ContainerTab[] = [
  'partitions',
  'data',
  'query',
  'feed',
  'scripts',
  'settings',
];

export type Place =
  | { readonly page: 'overview' | 'keys' | 'monitor' | 'compare' | 'unknown' }
  | { readonly page: 'database'; readonly db: string }
  | {
      readonly page: 'container';
      readonly db: string;
      readonly container: string;
      readonly tab: ContainerTab;
    };

export const place = computed<Place>(() => {
  const [pathname = '/'] = path.value.split('?');
  const [first = '', ...rest] = pathname.split('/').slice(1).map(decoded);
  const [db = '', container = '', tab] = rest;
  if (first === '') return { page: 'overview' };
  if (first === 'keys' || first === 'monitor' || first === 'compare') return { page: first };
  if (first === 'd' && db !== '') return { page: 'database', db };
  if (first === 'c' && container !== '') {
    const known = CONTAINER_TABS.find((name) => name === tab) ?? 'partitions';
    return { page: 'container', db, container, tab: known };
  }
  return { page: 'unknown' };
});

export const search = computed(() => new URLSearchParams(path.value.split('?')[1] ?? ''));

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

export function containerPath(
  db: string,
  container: string,
  tab: ContainerTab = 'partitions',
): string {
  return `/c/${encodeURIComponent(db)}/${encodeURIComponent(container)}/${tab}`;
}

export function databasePath(db: string): string {
  return `/d/${encodeURIComponent(db)}`;
}

export function navigate(to: string): void {
  history.pushState(null, '', to);
  path.value = to;
  document.querySelector('main')?.scrollTo(0, 0);
}

addEventListener('popstate', () => {
  path.value = location.pathname + location.search;
});

/** Links of the page stay within it; with a modifier they open as links do. */
addEventListener('click', (event) => {
  const link = (event.target as Element).closest?.('a');
  if (link === null || link === undefined || link.target !== '' || link.hasAttribute('download'))
    return;
  if (
    event.defaultPrevented ||
    event.button !== 0 ||
    event.ctrlKey ||
    event.metaKey ||
    event.shiftKey
  )
    return;
  if (link.origin !== location.origin) return;
  event.preventDefault();
  navigate(link.pathname + link.search);
});
