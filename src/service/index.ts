export * from './containers.ts';
export { type Databases, databaseNotFound } from './databases.ts';
export { type Distribution, EVEN } from './distribution.ts';
export * from './item-feed.ts';
export * from './items.ts';
export type { Offer, OfferChange, Offers } from './offers.ts';
export * from './queries.ts';
export * from './service.ts';
export * from './settings.ts';
