/** The arguments of a command by name and type; a wrong type is refused in MongoDB's words. */
import {
  type Bson,
  type BsonDocument,
  bsonTypeOf,
  isArray,
  isDocument,
} from '../../../value/index.ts';
import { MongoError } from '../errors.ts';
import { wholeOf } from '../fields/numbers.ts';
import { digitsOf, doubleOf, isNumber } from './arithmetic.ts';

/** A decimal may be too small for a double and still not zero. */
function isTruthyNumber(value: Bson): boolean {
  if (doubleOf(value) !== 0) return true;
  return bsonTypeOf(value) === 'decimal' && /[1-9]/.test(digitsOf(value).split('E')[0] ?? '');
}

export class Arguments {
  /** The command, for messages. */
  readonly #command: string;
  readonly #values: BsonDocument;

  constructor(command: string, values: BsonDocument) {
    this.#command = command;
    this.#values = values;
  }

  get(name: string): Bson | undefined {
    const value = this.#values.get(name);
    return value === null ? undefined : value;
  }

  has(name: string): boolean {
    return this.#values.has(name);
  }

  text(name: string): string {
    return this.optionalText(name) ?? this.#missing(name);
  }

  optionalText(name: string): string | undefined {
    const value = this.get(name);
    if (value === undefined || typeof value === 'string') return value;
    throw this.#wrongType(name, value, 'string');
  }

  document(name: string): BsonDocument {
    return this.optionalDocument(name) ?? this.#missing(name);
  }

  optionalDocument(name: string): BsonDocument | undefined {
    const value = this.get(name);
    if (value === undefined || isDocument(value)) return value;
    throw this.#wrongType(name, value, 'object');
  }

  optionalList(name: string): readonly Bson[] | undefined {
    const value = this.get(name);
    if (value === undefined || isArray(value)) return value;
    throw this.#wrongType(name, value, 'array');
  }

  /** A number that counts: whole and not negative. */
  optionalCount(name: string): number | undefined {
    const value = this.get(name);
    if (value === undefined) return undefined;
    if (!isNumber(value)) throw this.#wrongType(name, value, 'long');
    const count = wholeOf(value);
    if (count < 0)
      throw new MongoError(
        'BadValue',
        `BSON field '${name}' value must be >= 0, actual value '${count}'`,
      );
    return count;
  }

  /** Numbers count as booleans, as in MongoDB. */
  flag(name: string, byDefault = false): boolean {
    const value = this.get(name);
    if (value === undefined) return byDefault;
    if (typeof value === 'boolean') return value;
    if (isNumber(value)) return isTruthyNumber(value);
    throw this.#wrongType(name, value, 'bool');
  }

  /** Throws CommandNotSupported: texts are compared by their code points. */
  refuseCollation(): void {
    const collation = this.optionalDocument('collation');
    if (collation !== undefined && collation.get('locale') !== 'simple')
      throw new MongoError('CommandNotSupported', 'collations are not supported');
  }

  #missing(name: string): never {
    throw new MongoError(
      'IDLFailedToParse',
      `BSON field '${this.#command}.${name}' is missing but a required field`,
    );
  }

  #wrongType(name: string, value: Bson, expected: string): MongoError {
    return new MongoError(
      'TypeMismatch',
      `BSON field '${this.#command}.${name}' is the wrong type '${bsonTypeOf(value)}', expected type '${expected}'`,
    );
  }
}
