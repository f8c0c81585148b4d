export * from './cell-condition.ts';
export * from './condition.ts';
export { describeCondition } from './describe-condition.ts';
export * from './execute.ts';
export { KeptResults } from './kept-results.ts';
export { type PageRequest, type ResultPage, rowTooLarge, type Target } from './page.ts';
export {
  earlierOf,
  type HashRange,
  laterOf,
  type Position,
  parsePosition,
  printPosition,
} from './position.ts';
export * from './program.ts';
export * from './reader.ts';
export * from './search.ts';
export { pause } from './turn.ts';
export { newWork, type Work } from './work.ts';
