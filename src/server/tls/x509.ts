/**
 * The certificate library, loaded when something has to be signed and not before: it takes longer to load than the
 * rest of the server. It finds its parts by decorators, for which it wants `reflect-metadata` loaded first.
 */
export type X509 = typeof import('@peculiar/x509');

export async function loadX509(): Promise<X509> {
  await import('reflect-metadata');
  return import('@peculiar/x509');
}
