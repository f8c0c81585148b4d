/** Finds the composite index that has the order of a query. */
import type { Bytes } from '../../base/index.ts';
import { KeyWriter, type Path, printPath } from '../../value/index.ts';

export const PREFIX_COMPOSITE = 0x21;

export interface OrderedPath {
  readonly path: Path;
  readonly isDescending: boolean;
}

export interface CompositeMatch {
  readonly prefix: Bytes;
  readonly isReversed: boolean;
  /** Direction of each part as stored. */
  readonly isDescending: readonly boolean[];
}

const writer = new KeyWriter();

export class CompositeOrders {
  readonly #composites: readonly (readonly OrderedPath[])[];
  readonly #texts: readonly string[];
  /** Results by the order objects of queries; null where no index matches. */
  readonly #matches = new WeakMap<readonly OrderedPath[], CompositeMatch | null>();

  constructor(composites: readonly (readonly OrderedPath[])[]) {
    this.#composites = composites;
    this.#texts = composites.map(textOf);
  }

  /** The index with this order, forwards or backwards. */
  match(parts: readonly OrderedPath[]): CompositeMatch | undefined {
    if (this.#composites.length === 0) return undefined;
    let match = this.#matches.get(parts);
    if (match === undefined) {
      match = this.#find(parts);
      this.#matches.set(parts, match);
    }
    return match ?? undefined;
  }

  #find(parts: readonly OrderedPath[]): CompositeMatch | null {
    const wanted = textOf(parts);
    for (const [index, composite] of this.#composites.entries()) {
      if (this.#texts[index] !== wanted) continue;
      const isReversed = composite[0]?.isDescending !== parts[0]?.isDescending;
      const isMatch = composite.every(
        ({ isDescending }, at) => isDescending === (parts[at]?.isDescending !== isReversed),
      );
      if (!isMatch) continue;
      const prefix = writer.reset().u8(PREFIX_COMPOSITE).u16(index).take();
      return { prefix, isReversed, isDescending: composite.map((part) => part.isDescending) };
    }
    return null;
  }
}

function textOf(parts: readonly OrderedPath[]): string {
  return parts.map(({ path }) => printPath(path)).join('\n');
}
