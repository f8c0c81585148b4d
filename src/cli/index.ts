export { commandHelp, helpFor, isCommand, runCommand } from './run.ts';
export { printTable } from './table.ts';
