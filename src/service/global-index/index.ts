export type { GlobalIndexReport } from './follower.ts';
export { GlobalIndexes } from './global-indexes.ts';
export type { IndexRow, Projection, ProjectionsByEncoding } from './projection.ts';
