/** Batches, for the rest of the NoSQL API. */
export { postBatch } from './batch.ts';
