/** A document that an update changes in place, and the places in it that a path leads to. */
import { type Bson, type BsonDocument, isArray, isDocument } from '../../../value/index.ts';
import { printBson } from '../bson/print.ts';
import { MongoError } from '../errors.ts';
import { arrayIndex, type FieldPath } from '../query/path.ts';

export type MutableDocument = Map<string, Bson>;
type Container = MutableDocument | Bson[];

/** MongoDB's bound on an index that makes an array longer. */
const PADDING_MAX = 1_500_000;

/** Copies documents and arrays, so that changing them changes nobody else's. */
export function mutableCopy(document: BsonDocument): MutableDocument {
  return copyOf(document) as MutableDocument;
}

function copyOf(value: Bson): Bson {
  if (isDocument(value)) {
    const copy = new Map<string, Bson>();
    for (const [name, inner] of value) copy.set(name, copyOf(inner));
    return copy;
  }
  return isArray(value) ? value.map(copyOf) : value;
}

/** The place of one value: its container, which may have to be made, and its name there. */
export class Place {
  readonly #root: MutableDocument;
  readonly path: FieldPath;

  constructor(root: MutableDocument, path: FieldPath) {
    this.#root = root;
    this.path = path;
  }

  get text(): string {
    return this.path.join('.');
  }

  /** The `_id` of the document, for messages. */
  get rootId(): Bson | undefined {
    return this.#root.get('_id');
  }

  /** Refuses a path that leads through an element of an array. */
  refuseArrays(role: 'source' | 'destination'): void {
    let value: Bson | undefined = this.#root;
    for (const [at, step] of this.path.entries()) {
      if (isArray(value))
        throw new MongoError(
          'BadValue',
          `The ${role} field cannot be an array element, '${this.text}' in doc with _id: ${printBson(this.rootId)} has ` +
            `an array field called '${this.path[at - 1]}'`,
        );
      if (!isDocument(value)) return;
      value = value.get(step);
    }
  }

  /** Refuses a path that leads through a value without fields, or through an array by name. */
  refuseUnviable(): void {
    let value: Bson | undefined = this.#root;
    for (const [at, step] of this.path.entries()) {
      if (value === undefined) return;
      const isViable = isDocument(value) || (isArray(value) && arrayIndex(step) !== undefined);
      if (!isViable)
        throw new MongoError(
          'PathNotViable',
          `Cannot use the part (${step}) of (${this.text}) to traverse the element ({${this.path[at - 1]}: ${printBson(value)}})`,
        );
      value = read(value as Container, step);
    }
  }

  get(): Bson | undefined {
    const container = this.#container(false);
    return container === undefined ? undefined : read(container, this.path.at(-1) as string);
  }

  set(value: Bson): void {
    const container = this.#container(true) as Container;
    this.#write(container, this.path.at(-1) as string, value);
  }

  /** Removes a property; an element of an array becomes null. */
  remove(): void {
    const container = this.#container(false);
    const name = this.path.at(-1) as string;
    if (container instanceof Map) container.delete(name);
    else if (container !== undefined) {
      const index = arrayIndex(name);
      if (index !== undefined && index < container.length) container[index] = null;
    }
  }

  #container(creates: boolean): Container | undefined {
    let container: Container = this.#root;
    for (let at = 0; at < this.path.length - 1; at++) {
      const step = this.path[at] as string;
      let next = read(container, step);
      if (next === undefined) {
        if (!creates) return undefined;
        next = new Map();
        this.#write(container, step, next);
      }
      if (!isDocument(next) && !isArray(next)) {
        if (!creates) return undefined;
        throw new MongoError(
          'PathNotViable',
          `Cannot create field '${this.path[at + 1]}' in element {${step}: ${printBson(next)}}`,
        );
      }
      container = next as Container;
    }
    return container;
  }

  #write(container: Container, name: string, value: Bson): void {
    if (container instanceof Map) {
      container.set(name, value);
      return;
    }
    const index = arrayIndex(name);
    if (index === undefined)
      throw new MongoError(
        'PathNotViable',
        `Cannot create field '${name}' in element {${this.path.at(-2)}: ${printBson(container)}}`,
      );
    if (index - container.length > PADDING_MAX)
      throw new MongoError('BadValue', "can't backfill more than 1500000 elements");
    while (container.length < index) container.push(null);
    container[index] = value;
  }
}

function read(container: Container, name: string): Bson | undefined {
  if (container instanceof Map) return container.get(name);
  const index = arrayIndex(name);
  return index === undefined ? undefined : container[index];
}
