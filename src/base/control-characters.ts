/** Control characters, line ends among them: they separate the fields of texts that are signed, so no field may hold one. */

// biome-ignore lint/suspicious/noControlCharactersInRegex: these are the forbidden ones
const CONTROL_CHARACTERS = /[\u0000-\u001f\u007f]/;

export function hasControlCharacters(text: string): boolean {
  return CONTROL_CHARACTERS.test(text);
}
