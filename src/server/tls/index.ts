export { acceptTls, type PlainProtocol, type TlsOptions } from './accept-tls.ts';
export { openTls, type TlsSettings } from './open-tls.ts';
export { type TlsFiles, tlsFilesIn } from './tls-files.ts';
