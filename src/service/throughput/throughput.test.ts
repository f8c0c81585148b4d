// Goal: what throughput may be set, by kind and history. Method: tables of bounds, refusals and migrations.
import { expect, test } from 'vitest';
import type { ThroughputSetting } from '../../catalog/index.ts';
import { DEFAULT_SETTINGS } from '../settings.ts';
import {
  checkThroughput,
  containerKind,
  migratedSetting,
  newHistory,
  partitionCount,
  type ThroughputHistory,
  throughputBounds,
} from './throughput.ts';

const GIB = 1024 ** 3;
const manual = (requestUnits: number): ThroughputSetting => ({ kind: 'manual', requestUnits });
const autoscale = (requestUnitsMax: number): ThroughputSetting => ({
  kind: 'autoscale',
  requestUnitsMax,
});

test.each<
  [ThroughputHistory['kind'], Partial<ThroughputHistory>, ThroughputSetting['kind'], number, number]
>([
  ['fixed', {}, 'manual', 400, 10_000],
  ['fixed', {}, 'autoscale', 1000, 10_000],
  ['unlimited', {}, 'manual', 1000, 1_000_000],
  ['unlimited', {}, 'autoscale', 1000, 1_000_000],
  ['database', {}, 'manual', 400, 1_000_000],
  ['database', { sharingCount: 7 }, 'manual', 700, 1_000_000],
  ['database', { sharingCount: 7 }, 'autoscale', 1000, 1_000_000],
  ['unlimited', { highestEver: 250_000 }, 'manual', 2500, 1_000_000],
  ['unlimited', { highestEver: 250_100 }, 'manual', 2600, 1_000_000],
  ['unlimited', { highestEver: 250_000 }, 'autoscale', 25_000, 1_000_000],
  ['unlimited', { highestEver: 250_001 }, 'autoscale', 26_000, 1_000_000],
  ['fixed', { storageBytes: 450 * GIB }, 'manual', 500, 10_000],
  ['unlimited', { storageBytes: 1234 * GIB }, 'manual', 1300, 1_000_000],
  ['unlimited', { storageBytes: 1234 * GIB }, 'autoscale', 13_000, 1_000_000],
])('%s %j: %s from %d to %d RU/s', (kind, history, settingKind, min, max) => {
  const bounds = throughputBounds(
    settingKind,
    { ...newHistory(kind), ...history },
    DEFAULT_SETTINGS,
  );
  expect(bounds).toEqual({ min, max, step: settingKind === 'manual' ? 100 : 1000 });
});

test.each<[ThroughputSetting, ThroughputHistory['kind'], string | undefined]>([
  [manual(400), 'fixed', undefined],
  [manual(10_000), 'fixed', undefined],
  [manual(10_100), 'fixed', 'between 400 and 10000 inclusive in increments of 100.'],
  [manual(450), 'fixed', 'between 400 and 10000 inclusive in increments of 100.'],
  [manual(900), 'unlimited', 'between 1000 and 1000000 inclusive in increments of 100.'],
  [manual(1_000_100), 'unlimited', 'between 1000 and 1000000 inclusive in increments of 100.'],
  [manual(Number.NaN), 'database', 'between 400 and 1000000 inclusive in increments of 100.'],
  [manual(1000.5), 'database', 'between 400 and 1000000 inclusive in increments of 100.'],
  [autoscale(1500), 'database', 'between 1000 and 1000000 inclusive in increments of 1000.'],
  [autoscale(4000), 'unlimited', undefined],
])('%j on %s: %s', (setting, kind, refusal) => {
  const check = () => checkThroughput(setting, newHistory(kind), DEFAULT_SETTINGS);
  if (refusal === undefined) expect(check).not.toThrow();
  else expect(check).toThrow(`The offer should have valid throughput values ${refusal}`);
});

test.each<[ThroughputSetting, number, ThroughputSetting]>([
  [manual(400), 400, autoscale(1000)],
  [manual(10_100), 10_100, autoscale(11_000)],
  [manual(1000), 100_000, autoscale(10_000)],
  [autoscale(4000), 4000, manual(4000)],
])('%j, once %d RU/s, becomes %j', (setting, highestEver, migrated) => {
  const history = { ...newHistory('unlimited'), highestEver };
  expect(migratedSetting(setting, history, DEFAULT_SETTINGS)).toEqual(migrated);
});

test.each([
  [400, 1],
  [10_000, 1],
  [10_100, 2],
  [25_000, 3],
  [100_000, 10],
  [250_000, 25],
])('%d RU/s need %d partitions', (throughput, count) => {
  expect(partitionCount(throughput, DEFAULT_SETTINGS)).toBe(count);
});

test('a key and a thousand RU/s make a container unlimited', () => {
  expect(containerKind(true, 1000, DEFAULT_SETTINGS)).toBe('unlimited');
  expect(containerKind(true, 900, DEFAULT_SETTINGS)).toBe('fixed');
  expect(containerKind(false, 10_000, DEFAULT_SETTINGS)).toBe('fixed');
});

test('bounds are settings, and refusals name those in force', () => {
  const settings = {
    ...DEFAULT_SETTINGS,
    throughputMin: 200,
    throughputStep: 50,
    unlimitedThroughputMin: 2500,
    fixedThroughputMax: 5000,
    throughputQuota: 100_000,
  };
  expect(containerKind(true, 2450, settings)).toBe('fixed');
  expect(containerKind(true, 2500, settings)).toBe('unlimited');
  for (const [kind, range] of [
    ['fixed', 'between 200 and 5000 inclusive in increments of 50.'],
    ['unlimited', 'between 2500 and 100000 inclusive in increments of 50.'],
    ['database', 'between 200 and 100000 inclusive in increments of 50.'],
  ] as const)
    expect(() => checkThroughput(manual(40), newHistory(kind), settings)).toThrow(range);
});
