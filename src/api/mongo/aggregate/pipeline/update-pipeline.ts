/** Pipelines of updates: stages that map one document to one. */
import { type Bson, type BsonDocument, isDocument } from '../../../../value/index.ts';
import { MongoError } from '../../errors.ts';
import type { ExpressionContext } from '../expressions/scope.ts';
import { compileChange } from '../stages/simple.ts';

/** Throws the codes of MongoDB for stages that updates must not have. */
export function compileUpdatePipeline(
  stages: readonly Bson[],
  context: ExpressionContext,
): (document: BsonDocument) => BsonDocument {
  const changes = stages.map((stage) => {
    if (!isDocument(stage))
      throw new MongoError(
        'TypeMismatch',
        "Each element of the 'pipeline' array must be an object",
      );
    if (stage.size !== 1)
      throw new MongoError(
        'Location40323',
        'A pipeline stage specification object must contain exactly one field.',
      );
    const [[name, argument]] = stage as unknown as readonly [[string, Bson]];
    const change = compileChange(name, argument, context);
    if (change === undefined)
      throw new MongoError(
        name.startsWith('$') ? 'InvalidOptions' : 'Location40324',
        name.startsWith('$')
          ? `${name} is not allowed to be used within an update`
          : `Unrecognized pipeline stage name: '${name}'`,
      );
    return change;
  });
  return (document) => changes.reduce((before, change) => change(before), document);
}
