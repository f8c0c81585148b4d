/** A refusal of an API, in its own words. */
export class RunError extends Error {
  override readonly name = 'RunError';
  /** As the API names it: `BadRequest`, `Unauthorized`, `ResponseError`. */
  readonly code: string;
  readonly activityId: string | undefined;
  /** Milliseconds after which a throttled request may be sent again. */
  readonly retryAfterMs: number | undefined;

  constructor(
    code: string,
    message: string,
    more: {
      readonly activityId?: string | undefined;
      readonly retryAfterMs?: number | undefined;
    } = {},
  ) {
    super(message);
    this.code = code;
    this.activityId = more.activityId;
    this.retryAfterMs = more.retryAfterMs;
  }
}
