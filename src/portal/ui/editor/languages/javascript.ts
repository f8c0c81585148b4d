/** JavaScript of scripts, and the shell of MongoDB. */
import { javascript } from '@codemirror/lang-javascript';
import type { Extension } from '@codemirror/state';

export function plainJavascript(): Extension {
  return javascript();
}
