/** `$addFields` and `$set`: computed fields beside those that the document has. */
import { type Bson, type BsonDocument, isDocument } from '../../../../value/index.ts';
import { MongoError } from '../../errors.ts';
import { rootScope } from '../expressions/compile.ts';
import { parseFieldPath } from '../expressions/field-path.ts';
import type { ExpressionContext, Frame, Scope } from '../expressions/scope.ts';
import { compute, FieldTree } from './field-tree.ts';

export function compileAddFields(
  argument: Bson,
  context: ExpressionContext,
  name: string,
): (document: BsonDocument) => BsonDocument {
  if (!isDocument(argument))
    throw new MongoError(
      'Location40272',
      `${name} specification stage must be an object, got ${typeof argument}`,
    );
  const tree = new FieldTree();
  const scope = rootScope(context);
  for (const [path, value] of argument) add(tree, path, value, scope, name);
  const frame: Frame = [];
  return (document) => {
    frame[0] = document;
    const copy = new Map(document);
    compute(copy, tree, frame);
    return copy;
  };
}

function add(tree: FieldTree, path: string, value: Bson, scope: Scope, name: string): void {
  if (isDocument(value) && value.size > 0) {
    const names = [...value.keys()];
    if (!names.some((inner) => inner.startsWith('$'))) {
      parseFieldPath(path);
      for (const [inner, part] of value) {
        if (inner.includes('.'))
          throw new MongoError(
            'Location40183',
            `Invalid ${name} :: caused by :: FieldPath field names may not contain '.' in a sub-object`,
          );
        add(tree, `${path}.${inner}`, part, scope, name);
      }
      return;
    }
    if (names.length > 1)
      throw new MongoError(
        'Location40181',
        `Invalid ${name} :: caused by :: an expression specification must contain exactly one field`,
      );
  }
  parseFieldPath(path);
  tree.add(
    path,
    { kind: 'compute', evaluate: scope.compile(value) },
    () =>
      new MongoError(
        'Location40176',
        `Invalid ${name} :: caused by :: specification contains two conflicting paths. Cannot specify both '${path}' and another`,
      ),
  );
}
