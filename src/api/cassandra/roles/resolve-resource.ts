/** From a resource as it is written to one that exists. */
import { invalid } from '../errors.ts';
import type { Call } from '../statements/plan.ts';
import type { Scope } from '../statements/scope.ts';
import { typeText } from '../types/cql-type.ts';
import { dataResource, functionResource, type Resource, roleResource } from './resource.ts';
import type { ResourceTerm } from './role-ast.ts';

/** Throws where there is no such resource. */
export function resolveResource(term: ResourceTerm, scope: Scope, call: Call): Resource {
  const { keyspaces, roles, system } = call.environment;
  const requireKeyspace = (name: string): void => {
    if (keyspaces.find(name) === undefined && !system.has(name))
      throw invalid(`Resource <keyspace ${name}> doesn't exist`);
  };
  switch (term.kind) {
    case 'allKeyspaces':
      return dataResource();
    case 'allRoles':
      return roleResource();
    case 'allFunctions':
      return functionResource();
    case 'allMbeans':
      return { kind: 'mbean', path: [] };
    case 'mbean':
      return { kind: 'mbean', path: [term.name] };
    case 'keyspace':
      requireKeyspace(term.name);
      return dataResource(term.name);
    case 'functionsIn':
      requireKeyspace(term.name);
      return functionResource(term.name);
    case 'role':
      if (roles.find(term.name) === undefined)
        throw invalid(`Resource <role ${term.name}> doesn't exist`);
      return roleResource(term.name);
    case 'table': {
      const keyspace = scope.keyspaceOf(term);
      const found = keyspaces.find(keyspace);
      const isKnown =
        (found && keyspaces.findTable(found, term.name)) ?? system.find(keyspace, term.name);
      if (isKnown === undefined)
        throw invalid(`Resource <table ${keyspace}.${term.name}> doesn't exist`);
      return dataResource(keyspace, term.name);
    }
    case 'function': {
      const keyspace = scope.keyspaceOf(term);
      const types = term.types.map((text) => typeText(scope.typeNamed(text, keyspace)));
      const signature = `${term.name}(${types.join(', ')})`;
      if (!call.environment.functions.hasSignature(keyspace, term.name, types))
        throw invalid(`Resource <function ${keyspace}.${signature}> doesn't exist`);
      return functionResource(keyspace, signature);
    }
  }
}
