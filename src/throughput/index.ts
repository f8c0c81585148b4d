export { TokenBucket } from './bucket.ts';
export {
  type BudgetReport,
  type BudgetTotals,
  PartitionBudget,
  type Provision,
  type Refusal,
} from './budget.ts';
export {
  CONSISTENCY_LEVELS,
  type ConsistencyLevel,
  createCharge,
  deleteCharge,
  feedCharge,
  MINIMAL_CHARGE,
  pageCharge,
  type QueryChargeParts,
  queryCharge,
  queryChargeParts,
  readCharge,
  readFactor,
  replaceCharge,
  type WriteSize,
} from './charge.ts';
export { HEAT_MINUTES, type HeatKey, type HeatReport, KeyHeat } from './key-heat.ts';
export {
  NORMAL_CLASS,
  type RequestClass,
  requestClassOf,
  THROUGHPUT_BUCKETS_MAX,
  UNMETERED_CLASS,
} from './request-class.ts';
