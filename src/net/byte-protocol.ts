/** The contract between a protocol that is not HTTP and the connections that carry it. */

/** One per port. */
export interface ByteProtocol {
  /** Called when a connection has sent its first byte at the latest; over TLS, after the handshake. */
  open(socket: ByteSocket, info: ConnectionInfo): ByteConnection;
}

/** The protocol's side of one connection. An error that one of these throws is logged and ends this connection only. */
export interface ByteConnection {
  /** Receives the bytes in order. The chunk may be kept. */
  onData(chunk: Buffer): void;
  /** The socket accepts more after a `write` that returned false. */
  onDrain(): void;
  /**
   * Called once, last, whoever ended the connection: no byte comes or goes any more. Work that was received may be
   * finished; cursors, sessions and queries of this client are released.
   */
  onEnd(): void;
  /** True where no request is under way, no message has arrived in part and nothing is left to send. */
  readonly isIdle: boolean;
  /** When the message began that has arrived in part, by `performance.now()`; `FrameReader` knows. */
  readonly partialSinceMs: number | undefined;
  /** The server stops: finish the requests under way, take no others, then be idle; the connection is ended then. */
  stop(): void;
}

/** The connection as its protocol sees it. Nothing here throws; calls after the end do nothing. */
export interface ByteSocket {
  /**
   * The bytes belong to the socket from then on. False: produce no more until `onDrain`; it stays away where the
   * connection ends. While much is unsent, no more requests are read.
   */
  write(bytes: Uint8Array): boolean;
  /** Sends what was written, then these bytes, and closes. What the client still sends is discarded. */
  end(bytes?: Uint8Array): void;
  /** Closes at once. */
  destroy(): void;
  /** Reads no more from the client until `resume`. */
  pause(): void;
  resume(): void;
}

export interface ConnectionInfo {
  /** Unique among the connections of its port. */
  readonly id: number;
  readonly remoteAddress: string;
  readonly remotePort: number;
  readonly isTls: boolean;
  /** The server as the client reached it: the server name of TLS where it sent one, otherwise the local address. */
  readonly host: string;
  readonly port: number;
}
