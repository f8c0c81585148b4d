export { COUNTED } from './candidates/count.ts';
export { FIRST_OF_VALUES } from './candidates/first-of-values.ts';
export { firstEntries } from './candidates/has-entries.ts';
export { cellCondition, cellRanges } from './condition/cell-condition.ts';
export {
  ANYTHING,
  allOf,
  anyOf,
  type Condition,
  NOTHING,
  type TermCondition,
  term,
} from './condition/condition.ts';
export { conditionShape, equalityPaths } from './condition/condition-shape.ts';
export { describeCondition } from './condition/describe-condition.ts';
export { entryCondition } from './condition/entry-condition.ts';
export {
  type Comparison,
  comparedTo,
  equalTo,
  everyValue,
  intersectionOfRanges,
  isWholeInKey,
  ofType,
  startingWith,
  unionOfRanges,
  type ValueRange,
} from './condition/value-ranges.ts';
export type {
  AsyncFold,
  Blocking,
  ExecutableQuery,
  MovedQuery,
  Order,
  OrderPart,
  QueryMover,
  QuerySearch,
  ResultRow,
  Row,
  RowFold,
  Streaming,
} from './executable-query.ts';
export { executePage } from './execute.ts';
export { type ExecutionStats, newStats } from './execution-stats.ts';
export { type FoundItem, looseItem, type PendingItem } from './found-item.ts';
export { Interruption, type InterruptionOptions } from './interruption.ts';
export { NotInOrder } from './order/declared-order.ts';
export { type PageRequest, type ResultPage, rowTooLarge, type Target } from './page/page.ts';
export {
  type HashRange,
  maxHash,
  minHash,
  type Position,
  parsePosition,
  printPosition,
} from './page/position.ts';
export { ResultCache } from './page/result-cache.ts';
export { type QueryShape, QueryShapes } from './query-shapes.ts';
export type {
  Candidate,
  CompositeMatch,
  CompositeOrder,
  CountableRanges,
  DeclaredRanges,
  IndexEntries,
  IndexInOrder,
  IndexLimit,
  ItemReader,
  ValuesInIndex,
} from './reader.ts';
export type { Search, SearchAccess, TextSearch, TextStatistics } from './search.ts';
export { currentSlice, inSlices, type Pause, sortInSlices, yieldToEventLoop } from './yield.ts';
