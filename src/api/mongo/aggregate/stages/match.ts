/** `$match`: a filter, with the expressions of `$expr` compiled in the context of the pipeline. */
import { type Bson, type BsonDocument, isDocument } from '../../../../value/index.ts';
import { MongoError } from '../../errors.ts';
import { refuseNear, refuseWhere, scriptedParts, textOf } from '../../query/filter.ts';
import { parseFilter } from '../../query/filter-parser.ts';
import { compileFilter, type DocumentTest, withinLimits } from '../../query/filter-test.ts';
import { compileExpression } from '../expressions/compile.ts';
import { isTruthy } from '../expressions/define.ts';
import type { ExpressionContext } from '../expressions/scope.ts';

export function compileMatch(argument: Bson, context: ExpressionContext): DocumentTest {
  if (!isDocument(argument))
    throw new MongoError('Location15959', 'the match filter must be an expression in an object');
  const { filter, expressions } = splitExpressions(argument);
  const parsed = parseFilter(filter, { expression: context });
  if (textOf(parsed) !== undefined)
    throw new MongoError(
      'Location17313',
      '$match with $text is only allowed as the first pipeline stage',
    );
  refuseNear(parsed);
  refuseWhere(parsed);
  for (const { test, calls } of scriptedParts(parsed)) calls.note(test);
  const test = withinLimits(compileFilter(parsed, context.compare));
  if (expressions.length === 0) return test;
  const parts = expressions.map((sent) => compileExpression(sent, context));
  return (document) => test(document) && parts.every((part) => isTruthy(part(document)));
}

/** The expressions of `$expr` on the first level, and the filter without them. */
export function splitExpressions(sent: BsonDocument): {
  readonly filter: BsonDocument;
  readonly expressions: readonly Bson[];
} {
  const expression = sent.get('$expr');
  if (expression === undefined) return { filter: sent, expressions: [] };
  const filter = new Map(sent);
  filter.delete('$expr');
  return { filter, expressions: [expression] };
}
