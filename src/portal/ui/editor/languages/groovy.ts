/** Traversals of Gremlin. */
import { StreamLanguage } from '@codemirror/language';
import { groovy } from '@codemirror/legacy-modes/mode/groovy';
import type { Extension } from '@codemirror/state';

export function plainGroovy(): Extension {
  return StreamLanguage.define(groovy);
}
