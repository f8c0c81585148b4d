/**
 * The certificate library, loaded when something has to be signed and not before: it takes longer to load than the
 * rest of the server.
 *
 * The library finds its parts by decorators that want four functions of a proposal no engine has; these are they, for
 * constructors and without property keys, which is all it uses.
 */
export type X509 = typeof import('@peculiar/x509');

export async function loadX509(): Promise<X509> {
  if (!('getMetadata' in Reflect)) Object.assign(Reflect, metadataFunctions());
  return import('@peculiar/x509');
}

function metadataFunctions() {
  const kept = new WeakMap<object, Map<unknown, unknown>>();
  const getOwnMetadata = (key: unknown, of: object): unknown => kept.get(of)?.get(key);
  const defineMetadata = (key: unknown, value: unknown, of: object): void => {
    const known = kept.get(of) ?? new Map<unknown, unknown>();
    kept.set(of, known.set(key, value));
  };
  return {
    getOwnMetadata,
    defineMetadata,
    getMetadata(key: unknown, of: object): unknown {
      for (let at: object | null = of; at !== null; at = Object.getPrototypeOf(at)) {
        const value = getOwnMetadata(key, at);
        if (value !== undefined) return value;
      }
      return undefined;
    },
    metadata: (key: unknown, value: unknown) => (of: object) => defineMetadata(key, value, of),
  };
}
