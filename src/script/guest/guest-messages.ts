/** Inside the sandbox: the request and the response of a script. */

export interface GuestMessage {
  body: unknown;
  /** The object that scripts see. */
  readonly view: Readonly<Record<string, unknown>>;
}

/** @param values - the values that `getValue` finds by name, beside the body. */
export function makeMessage(
  values: Readonly<Record<string, unknown>>,
  body: unknown,
  extra: Readonly<Record<string, unknown>>,
): GuestMessage {
  const BODY = 'Body';
  const valuesByName: Record<string, unknown> = { ...values };
  const append = (current: unknown, value: unknown): unknown => {
    if (current === undefined) return value;
    const text = (part: unknown) =>
      typeof part === 'object' ? JSON.stringify(part) : String(part);
    return text(current) + text(value);
  };
  const message: GuestMessage = {
    body,
    view: {
      getBody: () => message.body,
      setBody: (value: unknown) => {
        message.body = value;
      },
      appendBody: (value: unknown) => {
        message.body = append(message.body, value);
      },
      getValue: (name: unknown) => (name === BODY ? message.body : valuesByName[String(name)]),
      setValue: (name: unknown, value: unknown) => {
        if (name === BODY) message.body = value;
        else valuesByName[String(name)] = value;
      },
      appendValue: (name: unknown, value: unknown) => {
        if (name === BODY) message.body = append(message.body, value);
        else valuesByName[String(name)] = append(valuesByName[String(name)], value);
      },
      ...extra,
    },
  };
  return message;
}
