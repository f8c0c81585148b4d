/** Decimal numbers of any length: an integer and how many of its digits stand behind the point. */

interface Decimal {
  readonly unscaled: bigint;
  readonly scale: number;
}

/** Digits of a decimal number that calculations keep. */
const SCALE_MAX = 1000;

export function parseDecimal(text: string): Decimal {
  const [mantissa = '0', exponent = '0'] = text.toLowerCase().split('e');
  const [whole = '0', fraction = ''] = mantissa.split('.');
  const scale = fraction.length - Number(exponent);
  if (!Number.isFinite(scale) || Math.abs(scale) > SCALE_MAX || whole.length > SCALE_MAX)
    return { unscaled: BigInt(Math.trunc(Number(text)) || 0), scale: 0 };
  const unscaled = BigInt(`${whole}${fraction}` || '0');
  return scale < 0 ? { unscaled: unscaled * 10n ** BigInt(-scale), scale: 0 } : { unscaled, scale };
}

export function decimalText({ unscaled, scale }: Decimal): string {
  if (scale <= 0) return String(unscaled);
  const sign = unscaled < 0n ? '-' : '';
  const digits = String(unscaled < 0n ? -unscaled : unscaled).padStart(scale + 1, '0');
  return `${sign}${digits.slice(0, -scale)}.${digits.slice(-scale)}`;
}

function aligned(a: Decimal, b: Decimal): readonly [bigint, bigint, number] {
  const scale = Math.max(a.scale, b.scale);
  return [
    a.unscaled * 10n ** BigInt(scale - a.scale),
    b.unscaled * 10n ** BigInt(scale - b.scale),
    scale,
  ];
}

export function compareDecimals(a: Decimal, b: Decimal): number {
  const [left, right] = aligned(a, b);
  return left < right ? -1 : Number(left > right);
}

export function calculateDecimals(
  operation: 'add' | 'subtract' | 'multiply' | 'divide',
  a: Decimal,
  b: Decimal,
): Decimal {
  const [left, right, scale] = aligned(a, b);
  if (operation === 'add') return { unscaled: left + right, scale };
  if (operation === 'subtract') return { unscaled: left - right, scale };
  if (operation === 'multiply')
    return { unscaled: a.unscaled * b.unscaled, scale: Math.min(a.scale + b.scale, SCALE_MAX) };
  return divided(left, right, scale);
}

/** As exact as the operands, and no less than 10 digits behind the point; rounded half up. */
function divided(left: bigint, right: bigint, scale: number): Decimal {
  const digits = Math.max(scale, 10);
  const scaled = left * 10n ** BigInt(digits);
  const half = (right < 0n ? -right : right) / 2n;
  const rounded = (scaled < 0n ? scaled - half : scaled + half) / right;
  return { unscaled: rounded, scale: digits };
}
