/** Seeded damage to messages. */
import type { Random } from '../../../src/base/index.ts';

/** Bytes that mean something in lengths, counts, types and texts. */
const TELLING_BYTES = [0, 1, 2, 4, 5, 8, 16, 0x22, 0x24, 0x7b, 0x7f, 0x80, 0xc0, 0xfe, 0xff];

export const TELLING_LENGTHS = [0, 1, 3, -1, -(2 ** 31), 2 ** 31 - 1, 2 ** 24, 2 ** 26, 17, 65_535];

export function pick<T>(random: Random, list: readonly T[]): T {
  return list[random.below(list.length)] as T;
}

/** Some bytes replaced; the length stays as it was. */
export function withDamage(random: Random, message: Buffer, from: number): Buffer {
  const damaged = Buffer.from(message);
  if (damaged.length <= from) return damaged;
  for (let count = 1 + random.below(4); count > 0; count--) {
    const at = from + random.below(damaged.length - from);
    damaged[at] = random.below(2) === 0 ? random.below(256) : pick(random, TELLING_BYTES);
  }
  return damaged;
}

/** A part cut out, doubled or made up; the header says something else. */
export function withOtherSize(random: Random, message: Buffer): Buffer {
  const at = random.below(message.length + 1);
  const end = at + random.below(message.length - at + 1);
  switch (random.below(4)) {
    case 0:
      return message.subarray(0, at);
    case 1:
      return Buffer.concat([message.subarray(0, at), message.subarray(end)]);
    case 2:
      return Buffer.concat([message.subarray(0, end), message.subarray(at)]);
    default:
      return Buffer.concat([message.subarray(0, at), noise(random), message.subarray(at)]);
  }
}

export function noise(random: Random): Buffer {
  return Buffer.from(Array.from({ length: 1 + random.below(200) }, () => random.below(256)));
}
