/** The text of a term, for messages and for the names of results. */
import type { Term } from '../../cql/ast.ts';

export function termText(term: Term): string {
  switch (term.kind) {
    case 'constant':
      return term.constant === 'string' ? `'${term.text}'` : term.text;
    case 'null':
      return 'NULL';
    case 'bind':
      return term.name === undefined ? '?' : `:${term.name}`;
    case 'list':
      return `[${termTexts(term.elements)}]`;
    case 'tuple':
      return `(${termTexts(term.elements)})`;
    case 'set':
      return `{${termTexts(term.elements)}}`;
    case 'map':
      return `{${term.entries.map(([key, value]) => `${termText(key)}: ${termText(value)}`).join(', ')}}`;
    case 'user':
      return `{${term.fields.map(([name, value]) => `${name}: ${termText(value)}`).join(', ')}}`;
    case 'call':
      return `${callName(term)}(${termTexts(term.arguments)})`;
    case 'hint':
      return `(${term.type})${termText(term.term)}`;
    case 'column':
      return term.name;
    case 'field':
      return `${termText(term.of)}.${term.field}`;
    case 'element':
      return `${termText(term.of)}[${termText(term.element)}]`;
    case 'slice':
      return `${termText(term.of)}[${textOf(term.from)}..${textOf(term.to)}]`;
    case 'castAs':
      return `cast(${termText(term.term)} as ${term.type.toLowerCase()})`;
    case 'countAll':
      return 'count';
    case 'operation':
      return `${termText(term.left)} ${term.operator} ${termText(term.right)}`;
    case 'negation':
      return `-${termText(term.term)}`;
  }
}

function textOf(term: Term | undefined): string {
  return term === undefined ? '' : termText(term);
}

function termTexts(terms: readonly Term[]): string {
  return terms.map(termText).join(', ');
}

function callName({ keyspace, name }: Extract<Term, { kind: 'call' }>): string {
  if (name === 'writetime' || name === 'ttl') return name;
  return `${keyspace ?? 'system'}.${name}`;
}
