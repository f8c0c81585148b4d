/**
 * The shapes of queries that cost most, by container. A shape is the text of a query without its values, so it tells no
 * contents; where an API has no text, the condition that indexes are searched with stands for it.
 */
import type { Clock } from '../base/index.ts';
import { printPath } from '../value/index.ts';
import { conditionShape, equalityPaths } from './condition/condition-shape.ts';
import type { ExecutableQuery } from './executable-query.ts';

/** Sums since the process began. */
export interface QueryShape {
  readonly text: string;
  /** Queries begun, and pages read. */
  count: number;
  pages: number;
  requestUnits: number;
  durationMs: number;
  /** Partitions that the pages read, together. */
  partitions: number;
  rows: number;
  /** Paths that each query compares with one value. */
  readonly equalityPaths: readonly string[];
}

/** A container, by what stays the same while it exists. */
interface QueriedContainer {
  readonly databaseRid: number;
  readonly rid: number;
}

interface QueryFigures {
  readonly isFirst: boolean;
  readonly charge: number;
  readonly durationMs: number;
  readonly partitions: number;
  readonly rows: number;
}

const SHAPES_PER_CONTAINER_MAX = 200;
const CONTAINERS_MAX = 500;
const TEXT_LENGTH_MAX = 1000;
/** Texts whose shape is known. */
const TEXTS_MAX = 1000;

export class QueryShapes {
  /** Milliseconds since 1970. */
  readonly sinceMs: number;
  readonly #containers = new Map<string, Map<string, QueryShape>>();
  readonly #texts = new Map<string, string>();

  constructor(clock: Clock) {
    this.sinceMs = clock.nowMs();
  }

  /** @param text - as it was sent, where there is one. */
  noteQuery(
    container: QueriedContainer,
    query: ExecutableQuery,
    text: string | undefined,
    figures: QueryFigures,
  ): void {
    const shape = text === undefined ? shapeOfQuery(query) : this.#shapeOfText(text);
    this.note(container, shape, figures, () => equalityPaths(query.condition));
  }

  /** @param paths - called when the shape is new. */
  note(
    container: QueriedContainer,
    text: string,
    figures: QueryFigures,
    paths: () => readonly string[],
  ): void {
    const name = nameOf(container);
    const shapes = this.#containers.get(name) ?? this.#addContainer(name);
    const shape = shapes.get(text) ?? addShape(shapes, text, paths());
    shape.count += figures.isFirst ? 1 : 0;
    shape.pages += 1;
    shape.requestUnits += figures.charge;
    shape.durationMs += figures.durationMs;
    shape.partitions += figures.partitions;
    shape.rows += figures.rows;
  }

  /** The most expensive first. */
  list(container: QueriedContainer): readonly QueryShape[] {
    const shapes = [...(this.#containers.get(nameOf(container))?.values() ?? [])];
    return shapes.sort((a, b) => b.requestUnits - a.requestUnits);
  }

  #addContainer(name: string): Map<string, QueryShape> {
    const [oldest] = this.#containers.keys();
    if (this.#containers.size >= CONTAINERS_MAX && oldest !== undefined)
      this.#containers.delete(oldest);
    const shapes = new Map<string, QueryShape>();
    this.#containers.set(name, shapes);
    return shapes;
  }

  #shapeOfText(text: string): string {
    const known = this.#texts.get(text);
    if (known !== undefined) return known;
    const shape = withoutValues(text);
    if (this.#texts.size >= TEXTS_MAX) this.#texts.clear();
    if (text.length <= TEXT_LENGTH_MAX) this.#texts.set(text, shape);
    return shape;
  }
}

/** A container that was made again under the same name is another one. */
function nameOf({ databaseRid, rid }: QueriedContainer): string {
  return `${databaseRid} ${rid}`;
}

/** The cheapest makes room. */
function addShape(
  shapes: Map<string, QueryShape>,
  text: string,
  paths: readonly string[],
): QueryShape {
  if (shapes.size >= SHAPES_PER_CONTAINER_MAX) {
    let cheapest: QueryShape | undefined;
    for (const shape of shapes.values())
      if (cheapest === undefined || shape.requestUnits < cheapest.requestUnits) cheapest = shape;
    if (cheapest !== undefined) shapes.delete(cheapest.text);
  }
  const shape: QueryShape = {
    text,
    count: 0,
    pages: 0,
    requestUnits: 0,
    durationMs: 0,
    partitions: 0,
    rows: 0,
    equalityPaths: paths,
  };
  shapes.set(text, shape);
  return shape;
}

/** A name in brackets behind a word, a text, a number, or white space. */
const PARTS =
  /(?<=[\w\])])\[\s*(?:"[^"\\]*"|'[^'\\]*')\s*\]|'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"|\b\d+(?:\.\d+)?(?:[eE][+-]?\d+)?\b|\s+/g;
const LISTS = /\?(?:\s*,\s*\?)+/g;

/** SQL with `?` for texts and numbers; lists of values are one. */
export function withoutValues(text: string): string {
  const bare = text
    .slice(0, 4 * TEXT_LENGTH_MAX)
    .trim()
    .replaceAll(PARTS, (part) => {
      if (part.startsWith('[')) return part;
      return part.trim() === '' ? ' ' : '?';
    })
    .replaceAll(LISTS, '?');
  return bare.slice(0, TEXT_LENGTH_MAX);
}

function shapeOfQuery({ condition, shape }: ExecutableQuery): string {
  const order = shape.kind === 'streaming' ? shape.order : undefined;
  const parts = (order?.parts ?? []).map(
    ({ path, isDescending }) =>
      `${path === undefined ? 'an expression' : printPath(path)}${isDescending ? ' DESC' : ''}`,
  );
  const sorted = parts.length === 0 ? '' : ` ORDER BY ${parts.join(', ')}`;
  return `${conditionShape(condition)}${sorted}`.slice(0, TEXT_LENGTH_MAX);
}
