export * from './bucket.ts';
export * from './budget.ts';
export * from './charge.ts';
export * from './key-heat.ts';
export * from './request-class.ts';
export * from './usage.ts';
