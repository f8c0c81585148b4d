export { CallTrials, callBatches } from './call-trials.ts';
export type { FunctionRealm } from './function-realm.ts';
export type { ScriptText } from './sandbox-protocol.ts';
export { ScriptError } from './script-error.ts';
export type {
  AnswerCalls,
  CallAnswer,
  ScriptCall,
  ScriptOutcome,
  ScriptRun,
} from './script-run.ts';
export type { ScriptSettings } from './script-settings.ts';
export { Scripts } from './scripts.ts';
