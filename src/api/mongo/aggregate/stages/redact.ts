/** `$redact`: keeps, prunes or descends into each level of a document. */
import { type Bson, type BsonDocument, isArray, isDocument } from '../../../../value/index.ts';
import { Row, type Rows } from '../../documents/rows.ts';
import { MongoError } from '../../errors.ts';
import { type Carry, carrierOf } from '../../metadata/metadata-scope.ts';
import { rootScope } from '../expressions/compile.ts';
import type { Evaluate, Frame } from '../expressions/scope.ts';
import type { Stage, StageContext, StageTable } from './stage.ts';

export const REDACT_STAGES: StageTable = { $redact: { parse: parseRedact } };

/** The three results, as values that no document holds by chance. */
const DESCEND = 'descend';
const PRUNE = 'prune';
const KEEP = 'keep';

interface Redact {
  readonly decide: Evaluate;
  readonly frame: Frame;
  /** Where the level in hand is; ROOT stays the whole document. */
  readonly currentSlot: number;
}

function parseRedact(argument: Bson, { expressions }: StageContext): Stage {
  const variables = new Map(expressions.variables);
  variables.set('DESCEND', { value: DESCEND });
  variables.set('PRUNE', { value: PRUNE });
  variables.set('KEEP', { value: KEEP });
  const { scope, slots } = rootScope({ ...expressions, variables }).with(['CURRENT']);
  const redact: Redact = {
    decide: scope.compile(argument),
    frame: [],
    currentSlot: slots[0] as number,
  };
  return (rows) => redacted(rows, redact, carrierOf(expressions));
}

async function* redacted(rows: Rows, redact: Redact, carry: Carry): Rows {
  for await (const batch of rows) {
    const kept: Row[] = [];
    for (const row of batch) {
      const { document } = row;
      redact.frame[0] = document;
      const result = level(document, redact);
      if (result !== undefined)
        kept.push(result === document ? row : Row.of(carry(result, document)));
    }
    if (kept.length > 0) yield kept;
  }
}

function level(document: BsonDocument, redact: Redact): BsonDocument | undefined {
  redact.frame[redact.currentSlot] = document;
  const decision = redact.decide(redact.frame);
  if (decision === KEEP) return document;
  if (decision === PRUNE) return undefined;
  if (decision !== DESCEND)
    throw new MongoError('Location17053', '$redact must evaluate to $$PRUNE, $$DESCEND or $$KEEP');
  const kept = new Map<string, Bson>();
  for (const [name, value] of document) {
    const inner = within(value, redact);
    if (inner !== undefined) kept.set(name, inner);
  }
  return kept;
}

function within(value: Bson, redact: Redact): Bson | undefined {
  if (isDocument(value)) return level(value, redact);
  if (!isArray(value)) return value;
  const kept: Bson[] = [];
  for (const element of value) {
    const inner = within(element, redact);
    if (inner !== undefined) kept.push(inner);
  }
  return kept;
}
