/**
 * Texts that differ only in the constants they compare with become one query with parameters. An application that writes
 * values into its texts sends a new text each time; its parsed and compiled form is still cached.
 *
 * Only compared constants are replaced. There a literal and a parameter mean the same, while in other places some have to be
 * literals (ESCAPE, names of properties, options of functions), and a text with GROUP BY may repeat an expression, which
 * would become two different ones.
 */
import type { QueryParameter } from '../run/evaluate.ts';

interface ParameterizedQuery {
  readonly text: string;
  /** The names cannot collide: only texts without parameters are rewritten. */
  readonly parameters: readonly QueryParameter[];
}

/** Long texts are rarely repeated, and scanning them costs time. */
const TEXT_LENGTH_MAX = 4096;
/** Escapes and comments would need the lexer; a text with parameters needs no others. */
const UNSUPPORTED = /[@\\]|--|\bGROUP\b/i;
/** A literal next to a comparison, or a string anywhere else, which is skipped as a whole. */
const LITERAL =
  /([=<>]\s*)(?:"([^"]*)"|'([^']*)'|(-?[0-9]+(?:\.[0-9]+)?)(?![\p{L}\p{Nd}_.]))|"[^"]*"|'[^']*'/gu;

/** Undefined where no constant can be replaced. */
export function autoParameterize(text: string): ParameterizedQuery | undefined {
  if (text.length > TEXT_LENGTH_MAX || UNSUPPORTED.test(text)) return undefined;
  const parameters: QueryParameter[] = [];
  let rewritten = '';
  let from = 0;
  LITERAL.lastIndex = 0;
  for (let found = LITERAL.exec(text); found !== null; found = LITERAL.exec(text)) {
    const [all, operator, double, single, number] = found;
    if (operator === undefined) continue;
    const name = `@_${parameters.length}`;
    parameters.push({ name, value: double ?? single ?? Number(number) });
    rewritten += text.slice(from, found.index) + operator + name;
    from = found.index + all.length;
  }
  return parameters.length === 0 ? undefined : { text: rewritten + text.slice(from), parameters };
}
