/** Steps on texts: over each value, or with the scope `local` over the members of a list. */
import { compileError, runtimeError, tooMuchMemory } from '../../errors.ts';
import { TEXT_LENGTH_MAX } from '../../limits.ts';
import { GremlinSet } from '../../model/collections.ts';
import { Path } from '../../model/elements.ts';
import { Bytecode } from '../../model/terms.ts';
import { textOf } from '../../model/text.ts';
import type { GremlinValue } from '../../model/value.ts';
import { type By, bysOf, resolveBy } from '../by.ts';
import type { Clause } from '../clauses.ts';
import { type Compiler, isEnum, isLocal, type StepTable } from '../compiler.ts';
import { isElementValue, propertyValues } from '../element-values.ts';
import { loadReferences } from '../references.ts';
import { selected } from '../scope.ts';
import { batchStep, evaluate, type Frame, mapStep, type Step } from '../step.ts';
import type { Traverser } from '../traverser.ts';
import { countOf } from './arguments.ts';

export const TEXT_STEPS: StepTable = {
  asString: ({ args }) => {
    const convert = (value: GremlinValue): string => {
      if (value === null) throw runtimeError("Can't parse null as String.");
      return textOf(value);
    };
    return mapStep((value) => {
      const isList = Array.isArray(value) || value instanceof GremlinSet;
      return isLocal(args) && isList
        ? [...(value as Iterable<GremlinValue>)].map(convert)
        : convert(value);
    });
  },
  length: ({ args }) => textStep('length', args, (text) => text.length),
  toLower: ({ args }) => textStep('toLower', args, (text) => text.toLowerCase()),
  toUpper: ({ args }) => textStep('toUpper', args, (text) => text.toUpperCase()),
  trim: ({ args }) => textStep('trim', args, (text) => text.trim()),
  lTrim: ({ args }) => textStep('lTrim', args, (text) => text.trimStart()),
  rTrim: ({ args }) => textStep('rTrim', args, (text) => text.trimEnd()),
  reverse: () => mapStep(reversed),
  replace: ({ args }) => {
    const [from = null, to = null] = unscoped(args);
    if (typeof from !== 'string' || typeof to !== 'string')
      return textStep('replace', args, (text) => text);
    return textStep('replace', args, (text) => bounded(text.replaceAll(from, () => to)));
  },
  split: ({ args }) => {
    const [separator = null] = unscoped(args);
    return textStep('split', args, (text) => splitText(text, separator));
  },
  substring: ({ args }) => {
    const [from, to] = unscoped(args);
    const start = countOf(from, 'substring');
    const end = to === undefined ? undefined : countOf(to, 'substring');
    return textStep('substring', args, (text) => text.slice(start, end));
  },
  concat: ({ args }, compiler) => concatStep(args, compiler),
  conjoin: ({ args: [separator = null] }) => {
    if (typeof separator !== 'string') throw compileError('conjoin() needs a text.');
    return mapStep((value) => {
      if (value === null) throw runtimeError("Incoming traverser for conjoin step can't be null");
      const members = listMembers(value);
      if (members === undefined)
        throw runtimeError(
          `conjoin step can only take an array or an Iterable type for incoming traversers, encountered ${typeof value}`,
        );
      return bounded(
        members
          .filter((member) => member !== null)
          .map(textOf)
          .join(separator),
      );
    });
  },
  format: (clause, compiler) => formatStep(clause, compiler),
};

/** Members of a list, a set or a path; undefined for other values. */
export function listMembers(value: GremlinValue): readonly GremlinValue[] | undefined {
  if (Array.isArray(value)) return value;
  if (value instanceof GremlinSet) return [...value];
  return value instanceof Path ? value.objects : undefined;
}

function unscoped(args: readonly GremlinValue[]): readonly GremlinValue[] {
  return isEnum(args[0], 'Scope') ? args.slice(1) : args;
}

/** A traversal that multiplies texts ends before memory does. */
function bounded(text: string): string {
  if (text.length > TEXT_LENGTH_MAX)
    throw tooMuchMemory(`A text is longer than ${TEXT_LENGTH_MAX} characters.`);
  return text;
}

/** Null stays null. */
function textStep(
  name: string,
  args: readonly GremlinValue[],
  apply: (text: string) => GremlinValue,
): Step {
  if (!isLocal(args))
    return mapStep((value) => {
      if (value === null) return null;
      if (typeof value !== 'string')
        throw runtimeError(
          `The ${name}() step can only take string as argument, encountered ${typeof value}`,
        );
      return apply(value);
    });
  return mapStep((value) => {
    const members = listMembers(value);
    if (value === null) return null;
    if (members === undefined && typeof value === 'string') return apply(value);
    if (members === undefined || members.some((each) => each !== null && typeof each !== 'string'))
      throw runtimeError(`The ${name}(local) step can only take string or list of strings`);
    const next = members.map((each) => (each === null ? null : apply(each as string)));
    return value instanceof GremlinSet ? new GremlinSet(next) : next;
  });
}

function reversed(value: GremlinValue): GremlinValue {
  if (typeof value === 'string') return [...value].reverse().join('');
  const members = listMembers(value);
  return members === undefined ? value : [...members].reverse();
}

/** Null splits at white space, the empty text into characters. */
function splitText(text: string, separator: GremlinValue): GremlinValue {
  if (separator === null) return text.trim().split(/\s+/);
  if (typeof separator !== 'string') throw compileError('split() needs a text.');
  if (separator === '') return [...text];
  const parts = text.split(separator);
  return parts.length > 1
    ? parts.filter((part, at) => part !== '' || at < parts.length - 1)
    : parts;
}

function concatStep(args: readonly GremlinValue[], compiler: Compiler): Step {
  const operands = args.map((arg) => (arg instanceof Bytecode ? compiler.pipeline(arg) : arg));
  return batchStep(async (batch, frame) => {
    const columns: (GremlinValue | undefined)[][] = [];
    for (const operand of operands)
      columns.push(
        typeof operand === 'object' && operand !== null && 'open' in operand
          ? (await evaluate(operand, batch, frame)).map(([first]) => first?.value)
          : batch.map(() => operand),
      );
    return batch.map((traverser, row) => {
      const parts = [traverser.value, ...columns.map((column) => column[row] ?? null)];
      if (parts.some((part) => part !== null && typeof part !== 'string'))
        throw runtimeError('String concat() can only take string as argument');
      const present = parts.filter((part) => part !== null);
      return traverser.to(present.length === 0 ? null : bounded(present.join('')));
    });
  });
}

const VARIABLE = /%\{([^}]*)\}/g;

/** `%{name}` is a property of the element or a value of that label, `%{_}` the next by(). */
function formatStep({ args: [template], modulators }: Clause, compiler: Compiler): Step {
  if (typeof template !== 'string') throw compileError('format() needs a text.');
  const bys = bysOf(modulators, compiler);
  const names = [...template.matchAll(VARIABLE)].map(([, name]) => name as string);
  return batchStep(async (batch, frame) => {
    await loadReferences(
      batch.map(({ value }) => value),
      frame,
    );
    const next: Traverser[] = [];
    for (const traverser of batch) {
      const values: (GremlinValue | undefined)[] = [];
      let position = 0;
      for (const name of names)
        if (name === '_' && bys.length > 0)
          values.push((await resolveBy(bys[position++ % bys.length] as By, [traverser], frame))[0]);
        else if (name === '_') values.push(traverser.value);
        else values.push(await variable(traverser, name, frame));
      if (values.some((value) => value === undefined)) continue;
      let at = 0;
      const text = template.replace(VARIABLE, () => textOf(values[at++] as GremlinValue));
      next.push(traverser.to(bounded(text)));
    }
    return next;
  });
}

async function variable(
  traverser: Traverser,
  name: string,
  frame: Frame,
): Promise<GremlinValue | undefined> {
  const { value } = traverser;
  if (isElementValue(value)) {
    const [found] = propertyValues(value, name);
    if (found !== undefined) return found;
  }
  return selected(traverser, name, frame);
}
