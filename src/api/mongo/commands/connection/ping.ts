/** Answers. */
import type { Command } from '../../call.ts';
import { ok } from '../../reply.ts';

export const ping: Command = { needs: 'nothing', fields: {}, run: () => ok() };
