/** Inside the sandbox: bytes and code. */
import type { GuestNumbers } from './guest-numbers.ts';

export type GuestBytes = ReturnType<typeof makeBytes>;

export function makeBytes({ Value }: GuestNumbers) {
  const DIGITS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/';

  class BinData extends Value {
    readonly #base64: string;
    readonly type: number;
    constructor(subtype: unknown = 0, base64: unknown = '') {
      super('binary', [Number(subtype), String(base64)]);
      this.type = Number(subtype);
      this.#base64 = String(base64);
    }
    subtype(): number {
      return this.type;
    }
    base64(): string {
      return this.#base64;
    }
    length(): number {
      return Math.floor((this.#base64.replace(/=+$/, '').length * 3) / 4);
    }
    hex(): string {
      let bits = '';
      for (const digit of this.#base64.replace(/=+$/, ''))
        bits += DIGITS.indexOf(digit).toString(2).padStart(6, '0');
      return (bits.match(/.{8}/g) ?? [])
        .map((byte) => Number.parseInt(byte, 2).toString(16).padStart(2, '0'))
        .join('');
    }
    override toString(): string {
      return `BinData(${this.type},"${this.#base64}")`;
    }
  }

  class UUID extends Value {
    readonly #hex: string;
    constructor(text: unknown) {
      const hex = String(text).replaceAll('-', '').toLowerCase();
      if (!/^[0-9a-f]{32}$/.test(hex)) throw new Error('UUID string must have 32 digits');
      super('uuid', hex);
      this.#hex = hex;
    }
    subtype(): number {
      return 4;
    }
    hex(): string {
      return this.#hex;
    }
    override toString(): string {
      const parts = /^(.{8})(.{4})(.{4})(.{4})(.{12})$/.exec(this.#hex) ?? [];
      return `UUID("${parts.slice(1).join('-')}")`;
    }
  }

  class Code extends Value {
    readonly code: string;
    constructor(code: unknown) {
      super('code', String(code));
      this.code = String(code);
    }
  }

  return { BinData, UUID, Code };
}
