export type {
  ByteConnection,
  ByteProtocol,
  ByteSocket,
  ConnectionInfo,
} from './byte-protocol.ts';
export { ByteServer } from './byte-server.ts';
export type { ConnectionLimits } from './connection-limits.ts';
export { FrameError, FrameReader, type FrameShape } from './frame-reader.ts';
