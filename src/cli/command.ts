/** A command: its words, options and function, and the arguments that the function receives. */
import type { ClientOptions } from './client.ts';

export interface Command {
  /** `db create` */
  readonly words: string;
  /** Arguments as shown in the help text. */
  readonly usage: string;
  readonly help: string;
  /** Positional arguments, at least and at most. */
  readonly arguments: readonly [number, number];
  readonly options?: Readonly<Record<string, CommandOption>>;
  run(context: CommandContext): Promise<void>;
}

interface CommandOption {
  /** The name of the value in the help text; absent for a switch. */
  readonly value?: string;
  readonly help: string;
  readonly multiple?: boolean;
}

export interface CommandContext {
  readonly client: ClientOptions;
  readonly arguments: readonly string[];
  /** The values given to an option, in order; one for a switch that is on. */
  option(name: string): readonly string[];
  readonly input: () => Promise<string>;
  readonly output: Output;
}

export interface Output {
  /** The result: as JSON for scripts, or as the text for people. */
  show(json: unknown, text: () => string): void;
}
