export { commandHelp, isCommand, runCommand } from './run.ts';
export { printTable } from './table.ts';
