import type { Command as Program } from 'commander';
import { z } from 'zod';
import type { Command } from '../command.ts';
import { completionScript, shells } from '../completion-script.ts';
import { readInput } from '../read-input.ts';

/** `lapse completion`: a script for the shell, made of the commands as they are. */
export const completion =
  (program: Program): Command =>
  async ({ io }, { args }) => {
    const { SHELL: shell } = readInput(z.object({ SHELL: z.enum(shells) }), { SHELL: args[0] });
    io.out.write(completionScript(program, shell));
    return null;
  };
