/**
 * The newest state of topics, as the server sends it. A hidden tab closes its stream, and of the visible ones only a few
 * have one: over HTTP/1.1 a browser has six connections for all tabs together.
 */
import { effect, type Signal, signal } from '@preact/signals';
import { send } from './api.ts';
import { session } from './session.ts';

const topics = new Map<string, { users: number; readonly state: Signal<unknown> }>();
const wanted = signal('');
let source: EventSource | undefined;

/** When the server was last heard, by `performance.now()`. */
export const heardMs = signal<number | undefined>(undefined);
export const isStale = signal(false);
const STALE_MS = 3000;

/** The state of a topic while somebody watches it; the result ends the watch. */
export function watch<T>(topic: string, use: (state: T | undefined) => void): () => void {
  const entry = topics.get(topic) ?? { users: 0, state: signal<unknown>(undefined) };
  topics.set(topic, entry);
  entry.users++;
  refresh();
  const stop = effect(() => use(entry.state.value as T | undefined));
  return () => {
    stop();
    entry.users--;
    if (entry.users === 0) topics.delete(topic);
    queueMicrotask(refresh);
  };
}

function refresh(): void {
  wanted.value = [...topics.keys()].sort().join(',');
}

effect(() => {
  const names = wanted.value;
  close();
  if (names === '' || document.hidden || session.value?.role == null) return;
  open(names);
});

function open(names: string): void {
  if (!takeSlot()) {
    void poll(names);
    return;
  }
  const stream = new EventSource(`/portal/events?topics=${encodeURIComponent(names)}`);
  source = stream;
  for (const topic of names.split(','))
    stream.addEventListener(topic, (event) => setState(topic, event.data));
  stream.addEventListener('tick', heard);
}

function close(): void {
  source?.close();
  source = undefined;
}

function setState(topic: string, text: string): void {
  const entry = topics.get(topic);
  if (entry !== undefined) entry.state.value = JSON.parse(text) ?? undefined;
}

function heard(): void {
  heardMs.value = performance.now();
  isStale.value = false;
}

/** Tabs beyond the first few ask every second instead: with six streams a browser has no connection left. */
async function poll(names: string): Promise<void> {
  try {
    const path = `/portal/events?once=1&topics=${encodeURIComponent(names)}`;
    const states = JSON.parse((await send(path)).text) as Readonly<Record<string, unknown>>;
    for (const [topic, state] of Object.entries(states)) setState(topic, JSON.stringify(state));
    heard();
  } catch {
    // The dot in the bar shows that the server is not heard; the next second asks again.
  }
}

const SLOTS = 3;
const SLOT_MS = 4000;
const OWN = Math.random().toString(36).slice(2);

/** Slots are notes of when their tab was last alive: whose note is old has closed its stream. */
function takeSlot(): boolean {
  const nowMs = Date.now();
  for (let slot = 0; slot < SLOTS; slot++) {
    const name = `stream ${slot}`;
    const [owner, atMs] = (localStorage.getItem(name) ?? '').split(' ');
    if (owner !== OWN && owner !== '' && nowMs - Number(atMs) < SLOT_MS) continue;
    localStorage.setItem(name, `${OWN} ${nowMs}`);
    return true;
  }
  return false;
}

function leaveSlots(): void {
  for (let slot = 0; slot < SLOTS; slot++)
    if ((localStorage.getItem(`stream ${slot}`) ?? '').startsWith(`${OWN} `))
      localStorage.removeItem(`stream ${slot}`);
}

document.addEventListener('visibilitychange', () => {
  close();
  if (document.hidden) leaveSlots();
  else if (wanted.value !== '') open(wanted.value);
});
addEventListener('pagehide', leaveSlots);

setInterval(() => {
  if (document.hidden || wanted.value === '' || session.value?.role == null) return;
  if (heardMs.value !== undefined) isStale.value = performance.now() - heardMs.value > STALE_MS;
  if (source === undefined || source.readyState === EventSource.CLOSED) open(wanted.value);
  else takeSlot();
}, 1000);
