/** The terms of geometries at one path: the cells by which they are found. */
import type { Bytes } from '../../base/index.ts';
import {
  ARRAY_ELEMENT,
  isList,
  KeyWriter,
  type Path,
  printPath,
  readPath,
  type SpatialGrid,
  type Value,
} from '../../value/index.ts';

const writer = new KeyWriter(1024);

export class SpatialTerms {
  /** The path of the geometries. */
  readonly text: string;
  readonly grid: SpatialGrid;
  readonly #path: Path;
  readonly #prefix: Bytes;

  /** `prefix` is where the terms of the cells begin. */
  constructor(path: Path, grid: SpatialGrid, prefix: Bytes) {
    this.#path = path;
    this.text = printPath(path);
    this.grid = grid;
    this.#prefix = prefix;
  }

  /** The entries of an item without its rid, none twice: elements of one array may lie in one cell. */
  termPrefixesOf(item: Value): readonly string[] {
    const cells = valuesAt(item, this.#path).flatMap((geometry) => this.grid.cellsOf(geometry));
    return [...new Set(cells)].map((cell) =>
      writer.reset().raw(this.#prefix).value(cell).takeText(),
    );
  }
}

/** All values at a path that may go through arrays. */
function valuesAt(value: Value, path: Path): readonly Value[] {
  const each = path.indexOf(ARRAY_ELEMENT);
  if (each < 0) return [readPath(value, path)];
  const list = readPath(value, path.slice(0, each));
  const rest = path.slice(each + 1);
  return isList(list) ? list.flatMap((element) => valuesAt(element, rest)) : [];
}
