export * from './condition/cell-condition.ts';
export * from './condition/condition.ts';
export { describeCondition } from './condition/describe-condition.ts';
export * from './executable-query.ts';
export * from './execute.ts';
export { type ExecutionStats, newStats } from './execution-stats.ts';
export { type PageRequest, type ResultPage, rowTooLarge, type Target } from './page.ts';
export {
  earlierOf,
  type HashRange,
  laterOf,
  type Position,
  parsePosition,
  printPosition,
} from './position.ts';
export * from './reader.ts';
export { ResultCache } from './result-cache.ts';
export * from './search.ts';
export { yieldToEventLoop } from './yield.ts';
