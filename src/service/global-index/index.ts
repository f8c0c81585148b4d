export type { GlobalIndexReport } from './follower.ts';
export { GlobalIndexes } from './global-indexes.ts';
