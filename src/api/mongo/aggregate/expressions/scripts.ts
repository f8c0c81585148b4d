/** `$function`: a function in JavaScript, which the sandbox runs. */
import {
  type Bson,
  BsonCode,
  type BsonDocument,
  bsonTypeOf,
  isArray,
  isDocument,
} from '../../../../value/index.ts';
import { MongoError } from '../../errors.ts';
import { sentOf } from '../../scripts/script-values.ts';
import { type OperatorTable, typeName } from './define.ts';
import { constantOf, type Evaluate, type Scope } from './scope.ts';

export const SCRIPTS: OperatorTable = { $function: compileFunction };

function compileFunction(argument: Bson, scope: Scope): Evaluate {
  const { scripts } = scope.context;
  if (scripts === undefined)
    throw new MongoError('Location4660800', '$function cannot be used inside a validator.');
  if (!isDocument(argument))
    throw new MongoError(
      'Location31260',
      `$function requires an object as an argument, found: ${bsonTypeOf(argument)}`,
    );
  const source = bodyOf(argument.get('body'), scope);
  const sentArgs = argument.get('args');
  if (sentArgs === undefined)
    throw new MongoError('Location31263', 'The args field must be specified.');
  const args = scope.compile(sentArgs);
  checkLanguage(argument.get('lang'));
  const name = scripts.define({ kind: 'call', source });
  return (frame) => {
    const values = args(frame);
    if (!isArray(values))
      throw new MongoError(
        'Location31266',
        `The args field must be of type array, found: ${typeName(values)}`,
      );
    return scripts.valueOf(frame[0] as BsonDocument, name, JSON.stringify(sentOf(values)));
  };
}

function bodyOf(sent: Bson | undefined, scope: Scope): string {
  if (sent === undefined)
    throw new MongoError('Location31261', 'The body function must be specified.');
  const body = constantOf(scope.compile(sent));
  if (body === undefined)
    throw new MongoError('Location31432', 'The body function must be a constant expression');
  const source = sourceIn(body.value);
  if (source === undefined)
    throw new MongoError('Location31262', 'The body function must evaluate to type string or code');
  return source;
}

/** The text of a function, which is a string or code. */
export function sourceIn(value: Bson | undefined): string | undefined {
  return value instanceof BsonCode ? value.source : typeof value === 'string' ? value : undefined;
}

function checkLanguage(sent: Bson | undefined): void {
  if (sent === undefined)
    throw new MongoError('Location31418', 'The lang field must be specified.');
  if (sent !== 'js')
    throw new MongoError(
      'Location31419',
      "Currently the only supported language specifier is 'js'.",
    );
}
