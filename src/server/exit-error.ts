/** Why the program ends, in words for the operator. Code 2: wrong usage. Code 1: it could not be done. */
export class ExitError extends Error {
  override readonly name = 'ExitError';
  readonly exitCode: 1 | 2;

  constructor(exitCode: 1 | 2, message: string) {
    super(message);
    this.exitCode = exitCode;
  }
}
