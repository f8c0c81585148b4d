/** A document while a patch changes it: a private copy from the parser. */
export type JsonNode = null | boolean | number | string | JsonNode[] | JsonObject;

export interface JsonObject {
  [name: string]: JsonNode;
}

export type JsonParent = JsonNode[] | JsonObject;

/** Sets an own property of any name; `__proto__` is a name like any other. */
export function setProperty(object: JsonObject, name: string, value: JsonNode): void {
  if (name === '__proto__')
    Object.defineProperty(object, name, {
      value,
      writable: true,
      enumerable: true,
      configurable: true,
    });
  else object[name] = value;
}
