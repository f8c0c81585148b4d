export * from './bucket.ts';
export * from './budget.ts';
export * from './charge.ts';
export * from './key-heat.ts';
export * from './traffic.ts';
export * from './usage.ts';
