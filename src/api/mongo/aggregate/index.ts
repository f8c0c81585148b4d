/**
 * The expression language, for filters (`$expr`), projections and updates. A context is made once for a command:
 *
 *   const context = expressionContext(nowMs, letVariables);
 *   const total = compileExpression(sent, context);
 *   isTruthy(total(document));
 */
export { compileExpression, type Expression } from './expressions/compile.ts';
export { isTruthy } from './expressions/define.ts';
export { type ExpressionContext, expressionContext } from './expressions/scope.ts';
export { compileUpdatePipeline } from './pipeline/update-pipeline.ts';
