/** Inside the sandbox: why a script failed, as text for the host. */

/** Returns the function that prints what a script has thrown, and its log, as JSON text. */
export function makeFailurePrinter(): (error: unknown, log: string) => string {
  const { stringify } = JSON;
  const GuestError = Error;
  return (error, log) => {
    const isObject = typeof error === 'object' && error !== null;
    const { name, message, stack, number } = (isObject ? error : {}) as Record<string, unknown>;
    return stringify({
      kind: 'failed',
      name: error instanceof GuestError ? String(name) : '',
      message:
        error instanceof GuestError ? String(message) : isObject ? stringify(error) : String(error),
      stack: typeof stack === 'string' ? stack : '',
      number: typeof number === 'number' ? number : 0,
      log,
    });
  };
}
