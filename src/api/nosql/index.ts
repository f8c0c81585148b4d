export { createWriteEstimator, type WriteEstimator } from './containers/write-estimate.ts';
export {
  createNosqlHandler,
  type RequestRefusal,
} from './handler.ts';
export { nosqlHome } from './home.ts';
export { createExplainer } from './query/explain.ts';
export { createPageRunner, type PageRunner } from './query/run-page.ts';
