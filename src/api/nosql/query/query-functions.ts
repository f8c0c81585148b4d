/** The user defined functions of one query, in a realm that is made when the first is called. */
import type { ContainerRecord } from '../../../catalog/index.ts';
import type { FunctionRealm, ScriptRun, ScriptText } from '../../../script/index.ts';
import { type UserFunction, UserFunctionCalls } from '../sql/index.ts';
import type { QueryServices } from './prepared-queries.ts';

export class QueryFunctions {
  readonly calls: UserFunctionCalls;
  readonly #services: QueryServices;
  readonly #container: ContainerRecord;
  readonly #texts = new Map<string, ScriptText>();
  #realm: FunctionRealm | undefined;

  constructor(services: QueryServices, container: ContainerRecord, within: ScriptRun | undefined) {
    this.#services = services;
    this.#container = container;
    this.calls = new UserFunctionCalls((calls) => {
      this.#realm ??= services.scripts.functions([...this.#texts.values()]);
      return this.#realm.run(calls, within);
    });
  }

  find(name: string): UserFunction | undefined {
    const { databaseRid, rid: containerRid } = this.#container;
    const owner = { databaseRid, containerRid, userRid: 0 };
    const found = this.#services.resources.find(owner, 'userDefinedFunction', name);
    if (found === undefined) return undefined;
    this.#texts.set(name, { name, source: String(found.properties.body) });
    return this.calls.functionOf(name);
  }

  release(): void {
    this.#realm?.forget();
  }
}
