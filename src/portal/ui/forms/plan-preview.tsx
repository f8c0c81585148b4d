/** What a throughput means, as a picture, while it is being typed. */
import { useEffect, useState } from 'preact/hooks';
import { post } from '../lib/api.ts';
import { bytes, count, units } from '../lib/format.ts';
import type { Plan } from '../lib/types.ts';

interface Planned {
  readonly throughput?: number;
  readonly autoscaleMax?: number;
  readonly key?: readonly string[];
  readonly current?: { readonly db: string; readonly container: string };
}

/** The newest plan; undefined until it is there. */
export function usePlan(planned: Planned): Plan | undefined {
  const [plan, setPlan] = useState<Plan>();
  const text = JSON.stringify(planned);
  useEffect(() => {
    const controller = new AbortController();
    // The last plan stays until the next is there.
    post<Plan>('plan', JSON.parse(text), controller.signal).then(
      setPlan,
      () => controller.signal.aborted || setPlan(undefined),
    );
    return () => controller.abort();
  }, [text]);
  return plan;
}

const BOXES_MAX = 60;

export function PlanPreview({ plan, wanted }: { readonly plan: Plan; readonly wanted: number }) {
  const shown = Math.min(plan.partitions, BOXES_MAX);
  return (
    <section class="plan" aria-live="polite" data-partitions={plan.partitions}>
      <p>
        {plan.kind === 'fixed' ? (
          <strong>N = 1 partition, {units(plan.each)} RU/s</strong>
        ) : (
          <strong>
            N = ceil({count(wanted)} / {count(plan.partitionLimit)}) = {plan.partitions} partition
            {plan.partitions === 1 ? '' : 's'}, {units(plan.each)} RU/s each
          </strong>
        )}
      </p>
      <div
        class="boxes"
        role="img"
        aria-label={`${plan.partitions} partitions of ${units(plan.each)} RU/s`}
      >
        {Array.from({ length: shown }, (_, at) => (
          <div key={at} class={plan.splits.includes(String(at)) ? 'box new' : 'box'}>
            {shown <= 8 && (
              <>
                <b>{at}</b>
                <small>{units(plan.each)} RU/s</small>
              </>
            )}
          </div>
        ))}
        {plan.partitions > shown && <small>and {plan.partitions - shown} more</small>}
      </div>
      <p class="muted">
        One key can use at most {units(plan.perKey)} RU/s and {bytes(plan.bytesPerKey)}. Allowed:{' '}
        {count(plan.min)} to {count(plan.max)} in steps of {count(plan.step)}.
        {plan.autoscale !== null &&
          ` Autoscale moves between ${count(plan.autoscale.from)} (10 %) and ${count(plan.autoscale.to)} RU/s.`}
      </p>
      {plan.splits.length > 0 && (
        <p>
          Would split: partition {[...new Set(plan.splits)].slice(0, 12).join(', ')}
          {plan.splits.length > 12 ? '…' : ''}. Requests are served meanwhile.
        </p>
      )}
      {plan.warnings.map((warning) => (
        <p class="warning" key={warning}>
          {warning}
        </p>
      ))}
    </section>
  );
}
