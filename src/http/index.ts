export { type Exchange, type HttpHandler, headerOf } from './exchange.ts';
export { guardedHandler } from './guard.ts';
export { HttpServer } from './http-server.ts';
export { overNodeHttp } from './node-exchange.ts';
export {
  fenced,
  type HttpApi,
  type HttpReply,
  type PendingRequest,
  type RequestReport,
  serve,
} from './serve.ts';
