/** The terms of the geometries at one path: their cells. */
import type { Bytes } from '../../../base/index.ts';
import {
  ARRAY_ELEMENT,
  isList,
  KeyWriter,
  type Path,
  printPath,
  readPath,
  type SpatialGrid,
  type Value,
} from '../../../value/index.ts';

const writer = new KeyWriter(1024);

export class SpatialTerms {
  /** The path of the geometries. */
  readonly text: string;
  readonly grid: SpatialGrid;
  readonly #path: Path;
  readonly #prefix: Bytes;

  /** `prefix` is the common prefix of the entries of the cells. */
  constructor(path: Path, grid: SpatialGrid, prefix: Bytes) {
    this.#path = path;
    this.text = printPath(path);
    this.grid = grid;
    this.#prefix = prefix;
  }

  /** The term prefixes of an item, each once: elements of an array may lie in one cell. */
  termPrefixesOf(item: Value): readonly string[] {
    const cells = valuesAt(item, this.#path).flatMap((geometry) => this.grid.cellsOf(geometry));
    return [...new Set(cells)].map((cell) =>
      writer.reset().raw(this.#prefix).value(cell).takeText(),
    );
  }
}

/** All values at a path, which may have array elements. */
function valuesAt(value: Value, path: Path): readonly Value[] {
  const elementAt = path.indexOf(ARRAY_ELEMENT);
  if (elementAt < 0) return [readPath(value, path)];
  const list = readPath(value, path.slice(0, elementAt));
  const rest = path.slice(elementAt + 1);
  return isList(list) ? list.flatMap((element) => valuesAt(element, rest)) : [];
}
