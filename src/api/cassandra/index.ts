export { cassandraHome } from './home.ts';
export { createCassandraProtocol } from './protocol.ts';
