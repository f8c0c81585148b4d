/** Whether a partition lets a request start, and what is charged to it afterwards. */
import type { ResponseInfo } from '../base/index.ts';
import type { ExecutionStats } from '../query/index.ts';
import { queryCharge, type RequestClass } from '../throughput/index.ts';
import type { ClusterContext } from './cluster-context.ts';
import { type Charged, othersOf, responseInfoOf, throttled, type WorkShare } from './reply.ts';
import type { Route } from './routing/routing-map.ts';

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

/** Charges a query to the partitions that it read, each in proportion to its effort. The response is that of the first. */
export function chargeQuery(
  context: ClusterContext,
  shares: readonly [WorkShare, ...WorkShare[]],
  stats: ExecutionStats,
  requestClass: RequestClass,
): ResponseInfo {
  const partitions = shares.length;
  const charge = queryCharge({ ...stats, partitions }, requestClass.readFactor);
  let all = 0;
  for (const { effort } of shares) all += effort;
  for (const { route, effort, key, bytes } of shares)
    chargeTo(context, route, { charge: (charge * effort) / all, bytes, key }, requestClass);
  const infos = shares.map(({ route }) =>
    responseInfoOf(route, route.handle.partition?.lsn ?? 0, charge),
  );
  return { ...(infos[0] as ResponseInfo), others: othersOf(infos) };
}
