/** The path of a patch operation: a JSON pointer (/a/0/b, /a/-) and the location that it names in a document. */
import type { JsonNode, JsonParent } from './json-node.ts';

export interface PatchPath {
  readonly text: string;
  /** At least one. */
  readonly steps: readonly string[];
}

/** Undefined where the text is no path inside an item. */
export function parsePatchPath(text: unknown): PatchPath | undefined {
  if (typeof text !== 'string' || !text.startsWith('/') || text.length < 2) return undefined;
  const steps = text.slice(1).split('/');
  if (steps.includes('') || steps.some((step) => /~(?![01])/.test(step))) return undefined;
  return { text, steps: steps.map((step) => step.replaceAll('~1', '/').replaceAll('~0', '~')) };
}

export function startsWithPath(inner: PatchPath, outer: PatchPath): boolean {
  return outer.steps.every((step, at) => inner.steps[at] === step);
}

/** The parent node, and the name or index in it. */
export interface PatchLocation {
  readonly parent: JsonParent;
  readonly step: string;
}

/** The location, or the part of the path that exists where the rest does not. */
export function findLocation(root: JsonParent, { steps }: PatchPath): PatchLocation | string {
  let parent = root;
  for (let at = 0; at < steps.length - 1; at++) {
    const node = childOf(parent, steps[at] as string);
    if (typeof node !== 'object' || node === null) return `/${steps.slice(0, at).join('/')}`;
    parent = node;
  }
  return { parent, step: steps.at(-1) as string };
}

/** Undefined where there is none. */
export function childOf(parent: JsonParent, step: string): JsonNode | undefined {
  if (!Array.isArray(parent)) return Object.hasOwn(parent, step) ? parent[step] : undefined;
  const index = toIndex(step);
  return index === undefined ? undefined : parent[index];
}

/** The index a step means; undefined where it means none. */
export function toIndex(step: string): number | undefined {
  return /^(?:0|[1-9]\d{0,8})$/.test(step) ? Number(step) : undefined;
}
