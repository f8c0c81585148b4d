/** Finds out when a response on a socket is complete. */

const HEAD_END = Buffer.from('\r\n\r\n');
const CHUNKS_END = Buffer.from('0\r\n\r\n');

/** Status line and headers in lower case once the response is complete: by its length, or by its last chunk. */
export function headOfWhole(bytes: Buffer): string | undefined {
  const headEnd = bytes.indexOf(HEAD_END);
  if (headEnd < 0) return undefined;
  const head = bytes.toString('latin1', 0, headEnd).toLowerCase();
  const bodyAt = headEnd + HEAD_END.length;
  if (head.includes('transfer-encoding: chunked')) {
    const end = bytes.subarray(Math.max(bodyAt, bytes.length - CHUNKS_END.length));
    return end.equals(CHUNKS_END) ? head : undefined;
  }
  const at = head.indexOf('content-length:');
  const length = at < 0 ? 0 : Number.parseInt(head.slice(at + 15, at + 27), 10);
  return bytes.length >= bodyAt + length ? head : undefined;
}

export function statusOf(head: string): number {
  return Number(head.slice(9, 12));
}
