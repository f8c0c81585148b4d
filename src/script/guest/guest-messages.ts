/** Inside the sandbox: the request and the response a script sees. */

export interface GuestMessage {
  body: unknown;
  readonly view: Readonly<Record<string, unknown>>;
}

/** @param values - what `getValue` knows by name, beside the body. */
export function makeMessage(
  values: Readonly<Record<string, unknown>>,
  body: unknown,
  extra: Readonly<Record<string, unknown>>,
): GuestMessage {
  const BODY = 'Body';
  const known: Record<string, unknown> = { ...values };
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
      getValue: (name: unknown) => (name === BODY ? message.body : known[String(name)]),
      setValue: (name: unknown, value: unknown) => {
        if (name === BODY) message.body = value;
        else known[String(name)] = value;
      },
      appendValue: (name: unknown, value: unknown) => {
        if (name === BODY) message.body = append(message.body, value);
        else known[String(name)] = append(known[String(name)], value);
      },
      ...extra,
    },
  };
  return message;
}
