/**
 * Nanoseconds per admission and charge and per look at hot keys, the price of the governor on every request. `node bench/budget.ts`; compare only
 * figures of one run, next to those of the empty loop.
 */
import { seededRandom } from '../src/base/index.ts';
import { KeyHeat, NORMAL_CLASS, PartitionBudget, type Provision } from '../src/throughput/index.ts';

const ROUNDS = 7;
const TIMES = 5_000_000;
const START_MS = Date.now();

const rates = { burstSec: 300, hasMinuteReserve: false };
const KINDS: Readonly<Record<string, Provision>> = {
  unmetered: { kind: 'unmetered', rate: 400 },
  'dedicated 10,000 RU/s': { kind: 'dedicated', rate: 10_000, ...rates },
  'dedicated 400 RU/s with burst': { kind: 'dedicated', rate: 400, ...rates },
};

/** Time moves so that about half of what is provisioned is used: every request is admitted. */
function run(budget: PartitionBudget, rate: number): number {
  const stepMs = 2000 / rate;
  let nowMs = START_MS;
  let refused = 0;
  const startedMs = performance.now();
  for (let at = 0; at < TIMES; at++) {
    nowMs += stepMs;
    const wholeMs = Math.floor(nowMs);
    if (budget.admit(wholeMs, NORMAL_CLASS) !== undefined) refused++;
    budget.charge(1, wholeMs, NORMAL_CLASS);
  }
  const ns = ((performance.now() - startedMs) * 1e6) / TIMES;
  if (refused > 0) throw new Error(`${refused} requests were refused`);
  return ns;
}

function refusals(): number {
  const budget = new PartitionBudget(START_MS);
  budget.provision({ kind: 'dedicated', rate: 400, ...rates, burstSec: 0 }, START_MS);
  budget.charge(1e6, START_MS, NORMAL_CLASS);
  const startedMs = performance.now();
  let waitMs = 0;
  for (let at = 0; at < TIMES; at++)
    waitMs += budget.admit(START_MS, NORMAL_CLASS)?.retryAfterMs ?? 0;
  if (waitMs === 0) throw new Error('nothing was refused');
  return ((performance.now() - startedMs) * 1e6) / TIMES;
}

/** A thousand keys at ten thousand requests per second. */
function heats(): number {
  const heat = new KeyHeat(seededRandom(1));
  const keys = Array.from({ length: 1000 }, (_, number) => {
    const epk = Buffer.alloc(16, String(number));
    return { epk, primary: epk };
  });
  const startedMs = performance.now();
  for (let at = 0; at < TIMES; at++) heat.add(1, 1000, keys[at % 1000], START_MS + at / 10);
  return ((performance.now() - startedMs) * 1e6) / TIMES;
}

const median = (values: readonly number[]): number =>
  [...values].sort((a, b) => a - b)[values.length >> 1] ?? 0;

for (const [name, provision] of Object.entries(KINDS)) {
  const rate = provision.kind === 'shared' ? provision.bucket.rate : provision.rate;
  const figures = Array.from({ length: ROUNDS }, () => {
    const budget = new PartitionBudget(START_MS);
    budget.provision(provision, START_MS);
    return run(budget, rate);
  });
  console.log(`${name.padEnd(32)}${median(figures).toFixed(1).padStart(6)} ns`);
}
const refused = Array.from({ length: ROUNDS }, refusals);
console.log(`${'a refusal'.padEnd(32)}${median(refused).toFixed(1).padStart(6)} ns`);
console.log(
  `${'hot keys'.padEnd(32)}${median(Array.from({ length: ROUNDS }, heats))
    .toFixed(1)
    .padStart(6)} ns`,
);
