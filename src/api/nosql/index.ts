export { computedProperties } from './computed-properties.ts';
export { createExplainer, type Explainer, type Explanation } from './explain.ts';
export { projectRows } from './global-index.ts';
export {
  createNosqlHandler,
  type NosqlOptions,
  type RequestFailure,
  type RequestRefusal,
} from './handler.ts';
export { sealJson } from './system-properties.ts';
