/** `$fill`: values for fields that are null or missing, as `$setWindowFields` and `$addFields`. */
import {
  type Bson,
  type BsonDocument,
  bsonTypeOf,
  isArray,
  isDocument,
} from '../../../../value/index.ts';
import { MongoError } from '../../errors.ts';
import type { Stage, StageContext } from '../stages/stage.ts';

const OPTIONS = new Set(['partitionBy', 'partitionByFields', 'sortBy', 'output']);

export function parseFill(argument: Bson, context: StageContext): Stage {
  if (!isDocument(argument))
    throw new MongoError(
      'FailedToParse',
      `The $fill stage specification must be an object, found ${bsonTypeOf(argument)}`,
    );
  for (const name of argument.keys())
    if (!OPTIONS.has(name))
      throw new MongoError('IDLUnknownField', `BSON field '$fill.${name}' is an unknown field.`);
  const output = argument.get('output');
  if (!isDocument(output))
    throw new MongoError(
      'IDLFailedToParse',
      "BSON field '$fill.output' is missing but a required field",
    );
  const windows = new Map<string, Bson>();
  const constants = new Map<string, Bson>();
  for (const [name, sent] of output) addOutput(name, sent, windows, constants);
  const stages: BsonDocument[] = [];
  if (windows.size > 0) {
    const stage = new Map<string, Bson>([['output', windows]]);
    const partition = partitionOf(argument);
    if (partition !== undefined) stage.set('partitionBy', partition);
    const sort = argument.get('sortBy');
    if (sort !== undefined) stage.set('sortBy', sort);
    stages.push(new Map([['$setWindowFields', stage]]));
  }
  if (constants.size > 0) stages.push(new Map([['$addFields', constants]]));
  return context.parse(stages, context);
}

function partitionOf(argument: BsonDocument): Bson | undefined {
  const fields = argument.get('partitionByFields');
  const by = argument.get('partitionBy');
  if (fields !== undefined && by !== undefined)
    throw new MongoError(
      'Location6050204',
      "Maximum one of 'partitionBy' and 'partitionByFields' can be specified in '$fill'",
    );
  if (fields === undefined) return by;
  if (!isArray(fields))
    throw new MongoError('TypeMismatch', "BSON field '$fill.partitionByFields' must be an array");
  return new Map(
    fields.map((name) => {
      if (typeof name !== 'string' || name.startsWith('$'))
        throw new MongoError('Location16410', "FieldPath field names may not start with '$'.");
      return [name.replaceAll('.', '_'), `$${name}`];
    }),
  );
}

function addOutput(
  name: string,
  sent: Bson,
  windows: Map<string, Bson>,
  constants: Map<string, Bson>,
): void {
  const value = isDocument(sent) ? sent.get('value') : undefined;
  const method = isDocument(sent) ? sent.get('method') : undefined;
  if (!isDocument(sent) || sent.size !== 1 || (value === undefined && method === undefined))
    throw new MongoError(
      'Location6050202',
      "Output fields must have exactly one of 'value' and 'method'",
    );
  if (value !== undefined) constants.set(name, new Map([['$ifNull', [`$${name}`, value]]]));
  else if (method === 'linear') windows.set(name, new Map([['$linearFill', `$${name}`]]));
  else if (method === 'locf') windows.set(name, new Map([['$locf', `$${name}`]]));
  else throw new MongoError('Location6050203', "Method must be either 'linear' or 'locf'");
}
