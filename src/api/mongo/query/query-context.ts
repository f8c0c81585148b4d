/** What filters, projections and updates of one command share: time, variables and collation. */
import { type BsonDocument, compareBson } from '../../../value/index.ts';
import { type ExpressionContext, expressionContext } from '../aggregate/index.ts';
import { type Collation, parseCollation } from './collation.ts';

export interface QueryContext {
  readonly expression: ExpressionContext;
  /** Undefined: the simple one. */
  readonly collation: Collation | undefined;
  /** As they were sent, for decisions that prepare a change again. */
  readonly sent: {
    readonly nowMs: number;
    readonly variables: BsonDocument | undefined;
    readonly collation: BsonDocument | undefined;
    /** Empty timestamps of a replacement are data, as restoring tools say, and not the time of the write. */
    readonly keepsEmptyTimestamps?: boolean;
  };
}

export function queryContext(
  nowMs: number,
  variables?: BsonDocument,
  collation?: BsonDocument,
): QueryContext {
  const parsed = parseCollation(collation);
  const compare = parsed?.compare ?? compareBson;
  return {
    expression: { ...expressionContext(nowMs, variables, compare), collation: parsed?.described },
    collation: parsed,
    sent: { nowMs, variables, collation },
  };
}

/** For filters outside of commands: neither variables nor a time. */
export const PLAIN_CONTEXT: QueryContext = queryContext(0);
