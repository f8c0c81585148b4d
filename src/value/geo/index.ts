export { namesAround } from './cell.ts';
export * from './earth.ts';
export * from './geo-json.ts';
export * from './plane.ts';
export { area, distance, intersects, isWithin } from './relations.ts';
export * from './space.ts';
export * from './spatial-grid.ts';
