/**
 * Adds all elements at the end of a list. `list.push(...elements)` would pass each as an argument, on the stack, which
 * a hundred thousand of them overflow.
 */
export function append<T>(list: T[], elements: readonly T[]): void {
  for (let at = 0; at < elements.length; at++) list.push(elements[at] as T);
}
