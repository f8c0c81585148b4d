/** What `synchronous_standby_names` asks for. */
export interface QuorumRule {
  /** Members that must have a commit, the primary among them. */
  readonly needed: number;
  /** Members that count, the primary among them; undefined: every standby counts. */
  readonly members: number | undefined;
  readonly kind: 'any' | 'first' | 'none';
}

/** The grammar of PostgreSQL: `ANY n (a, b)`, `FIRST n (a, b)`, `n (a, b)` or `a, b`. */
export function parseQuorumRule(text: string): QuorumRule {
  const trimmed = text.trim();
  if (trimmed === '') return { needed: 1, members: 1, kind: 'none' };
  const match = /^(?:(any|first)\s+)?(\d+)\s*\((.*)\)$/i.exec(trimmed);
  const names = (match?.[3] ?? trimmed).split(',').map((name) => name.trim());
  const members = names.includes('*') ? undefined : names.length + 1;
  const standbys = match === null ? 1 : Number(match[2]);
  return {
    needed: standbys + 1,
    members,
    kind: match?.[1]?.toLowerCase() === 'any' ? 'any' : 'first',
  };
}
