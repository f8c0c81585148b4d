/** Inside the sandbox: documents that are read from their texts once somebody looks at them; most callbacks never do. */

export interface GuestDocuments {
  /** @param text - JSON. */
  read(text: string): unknown;
}

export function makeDocuments(): GuestDocuments {
  const { parse } = JSON;
  const { keys, defineProperty, setPrototypeOf, create } = Object;
  const GuestProxy = Proxy;
  /** What a proxy asks before its document is read; afterwards it has nothing to ask. */
  interface Unread {
    readonly text: string;
  }
  const traps = create(null) as Record<string, unknown>;
  const fill = (unread: Unread, document: object): void => {
    setPrototypeOf(unread, null);
    const values = parse(unread.text) as Record<string, unknown>;
    for (const name of keys(values))
      defineProperty(document, name, {
        value: values[name],
        writable: true,
        enumerable: true,
        configurable: true,
      });
  };
  for (const [name, work] of Object.entries({
    get: Reflect.get,
    set: Reflect.set,
    has: Reflect.has,
    deleteProperty: Reflect.deleteProperty,
    defineProperty: Reflect.defineProperty,
    getOwnPropertyDescriptor: Reflect.getOwnPropertyDescriptor,
    ownKeys: Reflect.ownKeys,
    preventExtensions: Reflect.preventExtensions,
  } as Record<string, (document: object, ...rest: unknown[]) => unknown>))
    traps[name] = function (this: Unread, document: object, ...rest: unknown[]): unknown {
      fill(this, document);
      return work(document, ...rest);
    };
  return {
    read(text) {
      if (text[0] !== '{') return parse(text);
      const unread = setPrototypeOf({ text }, traps);
      return new GuestProxy({}, unread as ProxyHandler<object>);
    },
  };
}
