export { mongoHome } from './home.ts';
export { createMongoProtocol } from './protocol.ts';
