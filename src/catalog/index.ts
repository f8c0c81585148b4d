export * from './catalog.ts';
export * from './document-rids.ts';
export * from './indexing-policy.ts';
export * from './records.ts';
export * from './resource-id.ts';
export * from './special-indexes.ts';
export * from './stored-resources.ts';
