export * from './budget.ts';
export * from './charge.ts';
