/** From the text of a statement to its plan. One row for each kind of statement. */
import type { Statement } from '../cql/ast.ts';
import { parseStatement } from '../cql/parser.ts';
import { describePlan } from '../describe/describe-plan.ts';
import { CqlError } from '../errors.ts';
import { functionPlan } from '../functions/function-plan.ts';
import { requirementsOf } from '../roles/requirements.ts';
import { rolePlan } from '../roles/role-plan.ts';
import { viewPlan } from '../views/view-plan.ts';
import { batchPlan } from './batch.ts';
import { indexPlan } from './index-statements.ts';
import { modificationPlan } from './modify.ts';
import type { Environment, Plan } from './plan.ts';
import { schemaPlan } from './schema-statements.ts';
import { Scope } from './scope.ts';
import { selectPlan } from './select/select.ts';
import { typePlan } from './type-statements.ts';
import { usePlan } from './use.ts';

/** @param markers - how many bind markers the statement has. */
type Planner<S> = (statement: S, scope: Scope, markers: number) => Plan;

type Planners = {
  readonly [K in Statement['kind']]: Planner<Extract<Statement, { kind: K }>>;
};

const PLANNERS: Planners = {
  alterKeyspace: schemaPlan,
  alterTable: schemaPlan,
  alterType: typePlan,
  alterView: viewPlan,
  batch: batchPlan,
  createAggregate: functionPlan,
  createFunction: functionPlan,
  createIndex: indexPlan,
  createKeyspace: schemaPlan,
  createTable: schemaPlan,
  createType: typePlan,
  createView: viewPlan,
  delete: modificationPlan,
  describe: describePlan,
  dropAggregate: functionPlan,
  dropFunction: functionPlan,
  dropIndex: indexPlan,
  dropKeyspace: schemaPlan,
  dropTable: schemaPlan,
  dropType: typePlan,
  dropView: viewPlan,
  insert: modificationPlan,
  role: rolePlan,
  select: selectPlan,
  truncate: schemaPlan,
  unsupported({ what }) {
    throw new CqlError('invalid', `${what} is not supported yet`);
  },
  update: modificationPlan,
  use: ({ keyspace }, scope) => usePlan(keyspace, scope),
};

/** @param keyspace - that names without one are in. */
export function prepareStatement(
  text: string,
  environment: Environment,
  keyspace: string | undefined,
): Plan {
  const { statement, markers } = parseStatement(text);
  const planner = PLANNERS[statement.kind] as Planner<Statement>;
  const scope = new Scope(environment, keyspace);
  const plan = planner(statement, scope, markers.length);
  return { ...plan, requires: requirementsOf(statement, scope) };
}
