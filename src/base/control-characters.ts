/** Control characters, line breaks included. They separate the fields of signed texts, so no field may contain one. */

// biome-ignore lint/suspicious/noControlCharactersInRegex: these are the forbidden ones
const CONTROL_CHARACTERS = /[\u0000-\u001f\u007f]/;

export function hasControlCharacters(text: string): boolean {
  return CONTROL_CHARACTERS.test(text);
}
