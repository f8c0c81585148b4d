export {
  createNosqlHandler,
  type NosqlHandler,
  type NosqlOptions,
  type RequestFailure,
  type RequestReport,
} from './handler.ts';
export { sealJson } from './system-properties.ts';
