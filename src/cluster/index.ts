export { type BudgetSettings, Budgets, type OfferBook, SERVERLESS_RATE } from './budgets.ts';
export * from './cluster.ts';
export { containerIndexing } from './container-indexing.ts';
export { Host } from './host.ts';
export { QueryReader } from './query-reader.ts';
export * from './reshaper.ts';
export { type Route, RoutingMap } from './routing-map.ts';
export * from './session-token.ts';
