export { type Exchange, type HttpHandler, headerOf } from './exchange.ts';
export { HttpServer } from './http-server.ts';
export { overNodeHttp } from './node-exchange.ts';
export { type Asked, type HttpApi, type HttpReply, type RequestReport, serve } from './serve.ts';
