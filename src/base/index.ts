export * from './assert.ts';
export * from './bytes.ts';
export * from './clock.ts';
export * from './errors.ts';
export * from './hash.ts';
export * from './limits.ts';
export * from './maybe-promise.ts';
export * from './random.ts';
