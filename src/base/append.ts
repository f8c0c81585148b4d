/**
 * Appends all elements to a list. `list.push(...elements)` would pass each of them on the stack, which overflows at
 * about a hundred thousand elements.
 */
export function append<T>(list: T[], elements: readonly T[]): void {
  for (let at = 0; at < elements.length; at++) list.push(elements[at] as T);
}
