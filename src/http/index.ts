export { type Exchange, type HttpHandler, headerOf } from './exchange.ts';
export { guardedHandler } from './guard.ts';
export { HttpServer } from './http-server.ts';
export { overNodeHttp } from './node-exchange.ts';
export {
  type HttpApi,
  type HttpReply,
  type PendingRequest,
  type RequestReport,
  serve,
  withFailureHandling,
} from './serve.ts';
