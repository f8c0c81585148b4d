export { computedProperties } from './containers/computed-properties.ts';
export { projectRows } from './containers/global-index.ts';
export {
  createNosqlHandler,
  type RequestRefusal,
} from './handler.ts';
export { finishJson } from './items/system-properties.ts';
export { createExplainer } from './query/explain.ts';
