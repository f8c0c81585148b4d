/** Cividis: equal steps of value look equal, also for those who see few colours. */
const STOPS: readonly (readonly [number, number, number])[] = [
  [0, 34, 78],
  [35, 62, 108],
  [87, 92, 109],
  [124, 123, 120],
  [166, 156, 117],
  [212, 193, 99],
  [254, 232, 56],
];

/** @param share - 0 to 1. */
export function heatColor(share: number): string {
  const at = Math.min(1, Math.max(0, share)) * (STOPS.length - 1);
  const low = Math.min(STOPS.length - 2, Math.floor(at));
  const part = at - low;
  const mix = [0, 1, 2].map((channel) => {
    const from = STOPS[low]?.[channel] ?? 0;
    const to = STOPS[low + 1]?.[channel] ?? 0;
    return Math.round(from + (to - from) * part);
  });
  return `rgb(${mix.join(' ')})`;
}

/** Text that can be read on a heat colour. */
export function inkOn(share: number): string {
  return share > 0.5 ? '#12161c' : '#ffffff';
}

/** Lines of a chart: they differ in both themes. */
export const LINE_COLORS = ['#3b6fb6', '#d98032', '#3f9a76', '#b3548f', '#8a7a2b'] as const;

/** The color of a partition in a graph. */
export function partitionColor(id: string): string {
  let hash = 0;
  for (const character of id) hash = (hash * 31 + character.charCodeAt(0)) % 997;
  return `hsl(${(Number(id) * 67 + hash) % 360} 45% 50%)`;
}
