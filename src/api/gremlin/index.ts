export { createGremlinPort } from './gremlin-server.ts';
export { gremlinHome } from './home.ts';
export { GremlinConnection } from './wire/connection.ts';
