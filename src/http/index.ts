export { type Exchange, type HttpHandler, headerOf, type ResponseStream } from './exchange.ts';
export { type Guard, guardedHandler, guardedUpgrade } from './guard.ts';
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
export type { UpgradedConnection, UpgradeHandler } from './upgrades.ts';
