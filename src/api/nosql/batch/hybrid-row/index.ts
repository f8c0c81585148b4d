/** The binary form of batches, for their requests and results. */
export { type OperationRow, readOperationRow } from './operation-row.ts';
export { readRecords } from './record-stream.ts';
export { printResultRecords } from './result-records.ts';
export { ROW_VERSION } from './schemas.ts';
