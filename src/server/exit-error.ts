/** Why the program ends, in words for whoever started it. Code 2: asked for wrongly. Code 1: could not be done. */
export class ExitError extends Error {
  override readonly name = 'ExitError';
  readonly exitCode: 1 | 2;

  constructor(exitCode: 1 | 2, message: string) {
    super(message);
    this.exitCode = exitCode;
  }
}
