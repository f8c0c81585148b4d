/**
 * What a partition may spend. Post-paid: a request is admitted while the balance is positive, then charged what the
 * work really cost, which may overdraw it.
 */
export interface Budget {
  admit(nowMs: number): Admission;
  charge(requestUnits: number, nowMs: number): void;
}

export type Admission =
  | { readonly isAdmitted: true }
  | { readonly isAdmitted: false; readonly retryAfterMs: number };

const ADMITTED: Admission = { isAdmitted: true };

/** Charges are reported, nothing is refused. */
export const unmeteredBudget: Budget = { admit: () => ADMITTED, charge: () => undefined };
