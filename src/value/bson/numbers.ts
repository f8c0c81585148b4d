/** The range of an int32. Minus zero is not in it: only a double has that. */
const INT32_MIN = -(2 ** 31);
const INT32_MAX = 2 ** 31 - 1;

export function isInt32(value: number): boolean {
  return (
    Number.isInteger(value) && value >= INT32_MIN && value <= INT32_MAX && !Object.is(value, -0)
  );
}
