export { namesAround } from './cell.ts';
export { type Direction, earth } from './earth.ts';
export { parseGeoJson, type Shape } from './geo-json.ts';
export { type PlanePoint, plane } from './plane.ts';
export { area, distance, intersects, isWithin } from './relations.ts';
export type { Space } from './space.ts';
export {
  type Box,
  boxGrid,
  directionGrid,
  earthGrid,
  planeGrid,
  type ShapeGrid,
  type SpatialGrid,
} from './spatial-grid.ts';
