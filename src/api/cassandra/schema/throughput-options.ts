/** Provisioned throughput: from WITH, or from the payload beside the statement. */
import { type Bytes, bytesToText } from '../../../base/index.ts';
import type { ThroughputRecord, ThroughputSetting } from '../../../catalog/index.ts';
import type { Options, OptionValue } from '../cql/ast.ts';
import { CqlError } from '../errors.ts';
import type { Call } from '../statements/plan.ts';

const MANUAL = 'cosmosdb_provisioned_throughput';
const AUTOSCALE = 'cosmosdb_autoscale_max_throughput';

export const THROUGHPUT_OPTIONS: readonly string[] = [MANUAL, AUTOSCALE];

export function throughputOf(
  options: Options,
  { payload }: Pick<Call, 'payload'>,
): ThroughputSetting | undefined {
  const unitsOf = (name: string): number | undefined =>
    units(options.get(name) ?? textOf(payload.get(name)), name);
  const autoscale = unitsOf(AUTOSCALE);
  const manual = unitsOf(MANUAL);
  if (autoscale !== undefined) return { kind: 'autoscale', requestUnitsMax: autoscale };
  return manual === undefined ? undefined : { kind: 'manual', requestUnits: manual };
}

/** ALTER: the throughput of a keyspace or table that has one of its own. */
export async function changeThroughput(
  throughput: ThroughputRecord | undefined,
  setting: ThroughputSetting | undefined,
  { environment }: Call,
): Promise<void> {
  if (setting === undefined) return;
  if (throughput === undefined)
    throw new CqlError(
      'configError',
      'The resource has no throughput of its own: it was created without one',
    );
  const isSame = throughput.setting.kind === setting.kind;
  await environment.service.offers.replace(throughput.offerRid, {
    setting,
    migration: isSame ? undefined : setting.kind === 'autoscale' ? 'toAutoscale' : 'toManual',
  });
}

function textOf(bytes: Bytes | null | undefined): string | undefined {
  return bytes === null || bytes === undefined ? undefined : bytesToText(bytes);
}

function units(value: OptionValue | undefined, name: string): number | undefined {
  if (value === undefined) return undefined;
  const number = Number(value);
  if (!Number.isSafeInteger(number) || number <= 0)
    throw new CqlError('configError', `Invalid value for ${name}: a number of request units`);
  return number;
}
