/** Inside the sandbox: kinds of numbers, and what all types of BSON have in common. */

export type GuestNumbers = ReturnType<typeof makeNumbers>;

export function makeNumbers() {
  /** A value of a type without a counterpart in JavaScript. */
  class Value {
    readonly #sent: unknown;
    constructor(type: string, value: unknown) {
      this.#sent = { $: type, v: value };
    }
    /** What goes back to the host. */
    sent(): unknown {
      return this.#sent;
    }
  }

  class NumberLong extends Value {
    readonly #value: bigint;
    constructor(value: unknown = 0) {
      const sent = typeof value === 'number' ? BigInt(Math.trunc(value)) : BigInt(String(value));
      const whole = BigInt.asIntN(64, sent);
      super('long', String(whole));
      this.#value = whole;
    }
    toNumber(): number {
      return Number(this.#value);
    }
    override valueOf(): number {
      return Number(this.#value);
    }
    compare(other: unknown): number {
      const [a, b] = [Number(this.#value), Number(other)];
      return a < b ? -1 : a > b ? 1 : 0;
    }
    override toString(): string {
      const text = String(this.#value);
      return Number.isSafeInteger(Number(text)) ? `NumberLong(${text})` : `NumberLong("${text}")`;
    }
  }

  class NumberInt extends Value {
    readonly #value: number;
    constructor(value: unknown = 0) {
      super('int', Number(value) | 0);
      this.#value = Number(value) | 0;
    }
    toNumber(): number {
      return this.#value;
    }
    override valueOf(): number {
      return this.#value;
    }
    override toString(): string {
      return `NumberInt(${this.#value})`;
    }
  }

  class NumberDecimal extends Value {
    readonly #digits: string;
    constructor(value: unknown = '0') {
      super('decimal', String(value));
      this.#digits = String(value);
    }
    override toString(): string {
      return `NumberDecimal("${this.#digits}")`;
    }
  }

  return { Value, NumberLong, NumberInt, NumberDecimal };
}
