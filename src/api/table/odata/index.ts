export { conditionOf, partitionKeysOf, type Test, testOf } from './filter.ts';
export { type Filter, parseFilter } from './parser.ts';
export { textKeys, textTestOf } from './text-test.ts';
