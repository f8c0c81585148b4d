/** JSON, with its errors marked. */
import { json, jsonParseLinter } from '@codemirror/lang-json';
import { linter } from '@codemirror/lint';
import type { Extension } from '@codemirror/state';

export function checkedJson(): Extension {
  return [json(), linter(jsonParseLinter())];
}
