/** Whether a partition lets a request start, and what is charged to it afterwards. */
import type { RequestClass } from '../throughput/index.ts';
import type { ClusterContext } from './cluster-context.ts';
import { type Charged, throttled } from './reply.ts';
import type { Route } from './routing-map.ts';

/** Throws `throttled` where the budget of the partition is overdrawn. */
export function admit(
  { clock, load }: ClusterContext,
  route: Route,
  requestClass: RequestClass,
): void {
  const refusal = route.handle.budget.admit(clock.nowMs(), requestClass);
  if (refusal === undefined) return;
  load.throttled(route);
  throw throttled(route, refusal);
}

export function chargeTo(
  { clock }: ClusterContext,
  { handle }: Route,
  { charge, bytes, key }: Charged,
  requestClass: RequestClass,
): void {
  const nowMs = clock.nowMs();
  handle.budget.charge(charge, nowMs, requestClass);
  handle.heat.add(charge, bytes, key, nowMs);
}
