/**
 * Texts that differ in the constants they compare with are one query with parameters: a program that writes values into
 * its texts sends a new one each time, and all but the values is known already.
 *
 * Only what is compared is lifted. There a literal and a parameter mean the same, while elsewhere some have to be
 * literals (ESCAPE, names of properties, options of functions) and a text with GROUP BY may repeat an expression, which
 * with parameters would be two.
 */
import type { QueryParameter } from '../run/evaluate.ts';

interface ParameterizedQuery {
  readonly text: string;
  /** Named as no parameter of the text is: it has none. */
  readonly parameters: readonly QueryParameter[];
}

/** Long texts are rarely sent by the thousand, and looking through them takes its time. */
const TEXT_LENGTH_MAX = 4096;
/** Escapes and comments would have to be read as the lexer does; who has parameters needs no more of them. */
const UNSUPPORTED = /[@\\]|--|\bGROUP\b/i;
/** A literal next to a comparison, or a text anywhere else, which is passed over as a whole. */
const LITERAL =
  /([=<>]\s*)(?:"([^"]*)"|'([^']*)'|(-?[0-9]+(?:\.[0-9]+)?)(?![\p{L}\p{Nd}_.]))|"[^"]*"|'[^']*'/gu;

/** Undefined where there is nothing to lift. */
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
