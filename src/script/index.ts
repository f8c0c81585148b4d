export type { ScriptText } from './sandbox-protocol.ts';
export { ScriptError } from './script-error.ts';
export {
  type AnswerCalls,
  type CallAnswer,
  type FunctionRealm,
  type ScriptCall,
  type ScriptInput,
  type ScriptOutcome,
  type ScriptRun,
  type ScriptSettings,
  Scripts,
} from './scripts.ts';
