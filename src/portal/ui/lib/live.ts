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
/** True while a stream or an answer is on its way: a slow server is not asked twice. */
let isOpening = false;

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
  void open(names);
});

/** Opens a stream where this tab gets one of the few, and asks once otherwise. */
async function open(names: string): Promise<void> {
  if (isOpening) return;
  isOpening = true;
  try {
    const hasSlot = await takeSlot();
    if (wanted.value !== names || document.hidden || source !== undefined) return;
    if (hasSlot) openStream(names);
    else await poll(names);
  } finally {
    isOpening = false;
  }
  // Other topics were wanted meanwhile.
  if (wanted.value !== names && wanted.value !== '' && !document.hidden) await open(wanted.value);
}

function openStream(names: string): void {
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
let leave: (() => void) | undefined;

/**
 * One of the streams that a browser may have. Locks end with their tab, however it ends; pages from another machine over
 * plain HTTP have none, and use notes instead.
 */
async function takeSlot(): Promise<boolean> {
  if (leave !== undefined) return true;
  if (navigator.locks === undefined) return takeNote();
  for (let slot = 0; slot < SLOTS; slot++) if (await takeLock(`stream ${slot}`)) return true;
  return false;
}

function takeLock(name: string): Promise<boolean> {
  return new Promise((resolve) => {
    const hold = (lock: Lock | null): Promise<void> | undefined => {
      resolve(lock !== null);
      if (lock === null) return undefined;
      return new Promise((done) => {
        leave = done;
      });
    };
    navigator.locks.request(name, { ifAvailable: true }, hold).catch(() => resolve(false));
  });
}

const NOTE_MS = 15_000;
const OWN = Math.random().toString(36).slice(2);

/** Notes of when their tab was last alive: whose note is old has closed its stream. */
function takeNote(): boolean {
  const nowMs = Date.now();
  const notes = Array.from({ length: SLOTS }, (_, slot) =>
    (localStorage.getItem(`stream ${slot}`) ?? '').split(' '),
  );
  const own = notes.findIndex(([owner]) => owner === OWN);
  const free = notes.findIndex(([owner, atMs]) => owner === '' || nowMs - Number(atMs) > NOTE_MS);
  const slot = own >= 0 ? own : free;
  if (slot < 0) return false;
  localStorage.setItem(`stream ${slot}`, `${OWN} ${nowMs}`);
  return true;
}

function leaveSlots(): void {
  leave?.();
  leave = undefined;
  for (let slot = 0; slot < SLOTS; slot++)
    if ((localStorage.getItem(`stream ${slot}`) ?? '').startsWith(`${OWN} `))
      localStorage.removeItem(`stream ${slot}`);
}

document.addEventListener('visibilitychange', () => {
  close();
  if (document.hidden) leaveSlots();
  else if (wanted.value !== '') void open(wanted.value);
});
addEventListener('pagehide', leaveSlots);

setInterval(() => {
  if (document.hidden || wanted.value === '' || session.value?.role == null) return;
  if (heardMs.value !== undefined) isStale.value = performance.now() - heardMs.value > STALE_MS;
  // Another tab has taken the note of one that was asleep: then this one has no stream any more.
  if (source !== undefined && leave === undefined && !takeNote()) close();
  if (source?.readyState === EventSource.CLOSED) close();
  if (source === undefined) void open(wanted.value);
}, 1000);
