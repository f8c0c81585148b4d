export { acceptTls, type TlsOptions } from './accept-tls.ts';
export { openTls, type TlsSettings } from './open-tls.ts';
