/** Builders of syntax nodes for rewrites. */

import { NO_SPAN } from '../errors.ts';
import type { Call, Expression, Literal, ObjectCreation, Placeholder } from './ast.ts';

const span = NO_SPAN;

export function literal(value: string | number): Literal {
  return { kind: 'literal', value, span };
}

export function identifier(name: string): Expression {
  return { kind: 'identifier', name, span };
}

export function property(base: Expression, name: string): Expression {
  return { kind: 'property', base, name, span };
}

export function call(name: string, ...args: readonly Expression[]): Call {
  return { kind: 'call', name, arguments: args, nameSpan: span, span };
}

export function list(items: readonly Expression[]): Expression {
  return { kind: 'array', items, span };
}

export function object(properties: Readonly<Record<string, Expression>>): ObjectCreation {
  return objectFrom(Object.entries(properties));
}

export function objectFrom(properties: readonly (readonly [string, Expression])[]): ObjectCreation {
  return { kind: 'object', properties: properties.map(([name, value]) => ({ name, value })), span };
}

export function and(left: Expression, right: Expression): Expression {
  return { kind: 'binary', operator: 'AND', left, right, span };
}

export function coalesce(left: Expression, right: Expression): Expression {
  return { kind: 'binary', operator: '??', left, right, span };
}

/** Clients replace the part in braces and keep the parentheses. */
export function placeholder(text: string): Placeholder {
  return { kind: 'placeholder', text, span };
}
