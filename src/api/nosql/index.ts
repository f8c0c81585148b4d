export { computedProperties } from './containers/computed-properties.ts';
export { projectRows } from './containers/global-index.ts';
export {
  createNosqlHandler,
  type NosqlOptions,
  type RequestFailure,
  type RequestRefusal,
} from './handler.ts';
export { finishJson } from './items/system-properties.ts';
export { createExplainer, type Explainer, type Explanation } from './query/explain.ts';
