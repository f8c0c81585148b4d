/** Inside the sandbox: documents that are parsed at first use, because most callbacks never use them. */

export interface GuestDocuments {
  /** @param text - JSON. */
  read(text: string): unknown;
}

export function makeDocuments(): GuestDocuments {
  const { parse } = JSON;
  const { keys, defineProperty, setPrototypeOf, create } = Object;
  const GuestProxy = Proxy;
  /** The handler of a proxy. It inherits the traps until the document is parsed; then it has none. */
  interface Unparsed {
    readonly text: string;
  }
  const traps = create(null) as Record<string, unknown>;
  const fill = (unparsed: Unparsed, document: object): void => {
    setPrototypeOf(unparsed, null);
    const values = parse(unparsed.text) as Record<string, unknown>;
    for (const name of keys(values))
      defineProperty(document, name, {
        value: values[name],
        writable: true,
        enumerable: true,
        configurable: true,
      });
  };
  for (const [name, operation] of Object.entries({
    get: Reflect.get,
    set: Reflect.set,
    has: Reflect.has,
    deleteProperty: Reflect.deleteProperty,
    defineProperty: Reflect.defineProperty,
    getOwnPropertyDescriptor: Reflect.getOwnPropertyDescriptor,
    ownKeys: Reflect.ownKeys,
    preventExtensions: Reflect.preventExtensions,
  } as Record<string, (document: object, ...rest: unknown[]) => unknown>))
    traps[name] = function (this: Unparsed, document: object, ...rest: unknown[]): unknown {
      fill(this, document);
      return operation(document, ...rest);
    };
  return {
    read(text) {
      if (text[0] !== '{') return parse(text);
      const unparsed = setPrototypeOf({ text }, traps);
      return new GuestProxy({}, unparsed as ProxyHandler<object>);
    },
  };
}
