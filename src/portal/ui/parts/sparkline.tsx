/** A minute of request units, as small as a word. */
export function Sparkline({
  values,
  max,
  label,
}: {
  readonly values: readonly number[];
  readonly max?: number;
  readonly label: string;
}) {
  const top = Math.max(max ?? 0, 1, ...values);
  const points = values.map((value, at) => `${at * 2},${(22 - (20 * value) / top).toFixed(1)}`);
  const last = (values.length - 1) * 2;
  return (
    <svg
      class="sparkline"
      viewBox={`0 0 ${last} 24`}
      preserveAspectRatio="none"
      role="img"
      aria-label={label}
    >
      <polygon points={`0,23 ${points.join(' ')} ${last},23`} />
      <polyline points={points.join(' ')} />
    </svg>
  );
}

export function Bar({
  share,
  label,
  isHot = false,
}: {
  readonly share: number;
  readonly label?: string;
  readonly isHot?: boolean;
}) {
  const width = Math.min(100, Math.max(0, share * 100));
  return (
    <svg
      class={isHot ? 'meter hot' : 'meter'}
      viewBox="0 0 100 8"
      preserveAspectRatio="none"
      role="img"
      aria-label={label ?? `${Math.round(width)} %`}
    >
      <rect class="track" width="100" height="8" rx="2" />
      <rect class="value" width={width} height="8" rx="2" />
    </svg>
  );
}
