/** Inside the sandbox: ids, time stamps and the ends of the order. */
import type { GuestNumbers } from './guest-numbers.ts';

export type GuestIds = ReturnType<typeof makeIds>;

export function makeIds({ Value }: GuestNumbers) {
  const random = (): string => Math.floor(Math.random() * 16).toString(16);

  class ObjectId extends Value {
    readonly str: string;
    constructor(text?: unknown) {
      const seconds = Math.floor(Date.now() / 1000).toString(16);
      const sent =
        text === undefined ? seconds + Array.from({ length: 16 }, random).join('') : text;
      const made = (sent instanceof ObjectId ? sent.str : String(sent)).toLowerCase();
      if (!/^[0-9a-f]{24}$/.test(made)) throw new Error('invalid object id: length');
      super('objectId', made);
      this.str = made;
    }
    override toString(): string {
      return `ObjectId("${this.str}")`;
    }
    override valueOf(): string {
      return this.str;
    }
    equals(other: unknown): boolean {
      return other instanceof ObjectId && other.str === this.str;
    }
    getTimestamp(): Date {
      return new Date(Number.parseInt(this.str.slice(0, 8), 16) * 1000);
    }
  }

  class Timestamp extends Value {
    readonly t: number;
    readonly i: number;
    constructor(t: unknown = 0, i: unknown = 0) {
      super('timestamp', [Number(t), Number(i)]);
      this.t = Number(t);
      this.i = Number(i);
    }
    getTime(): number {
      return this.t;
    }
    getInc(): number {
      return this.i;
    }
    override toString(): string {
      return `Timestamp(${this.t}, ${this.i})`;
    }
  }

  class MinKey extends Value {
    constructor() {
      super('minKey', 1);
    }
  }

  class MaxKey extends Value {
    constructor() {
      super('maxKey', 1);
    }
  }

  return { ObjectId, Timestamp, MinKey, MaxKey };
}
