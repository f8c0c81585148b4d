/** How a client addresses the server, for links that lead it back. */
import type { Socket } from 'node:net';

export function isEncrypted(socket: Socket): boolean {
  return 'encrypted' in socket && socket.encrypted === true;
}

/** `scheme://host/`; a client that names no host knows the address. */
export function originOf(socket: Socket, host: string | undefined): string {
  const scheme = isEncrypted(socket) ? 'https' : 'http';
  return `${scheme}://${host ?? `${socket.localAddress}:${socket.localPort}`}/`;
}
