export * from './condition.ts';
export * from './program.ts';
