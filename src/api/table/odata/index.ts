export { conditionOf, partitionKeysOf, type Test, testOf } from './filter.ts';
export { type Filter, parseFilter } from './parser.ts';
