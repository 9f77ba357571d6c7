import type { OperatorAnswer } from '@lapse/operations';
import type { CommandResult } from './command.ts';
import { refusedResult } from './refused-result.ts';
import { changeShape } from './shapes/change.ts';

/** The result as the API would answer it: the bytes that are kept for a repeat. */
export type ChangedThing = Readonly<Record<string, unknown>>;

/** What a change came to. @param text says what was done, from the thing as it is now. */
export function changeResult(answer: OperatorAnswer, text: (thing: ChangedThing) => string): CommandResult {
  if (answer.kind === 'refused') return refusedResult(answer.problem);
  const result = JSON.parse(answer.answer.body.toString()) as ChangedThing;
  const before = answer.kind === 'replayed' ? 'done before, under this key: ' : 'done: ';
  return { shape: changeShape, data: { outcome: answer.kind, result }, text: `${before}${text(result)}` };
}

/** A dry run: what would be done, to the thing as it is. */
export function wouldDo(text: string, thing: object): CommandResult {
  return {
    shape: changeShape,
    data: { outcome: 'would_do', result: thing },
    text: `dry run, nothing was changed: ${text}\n--apply --reason TEXT does it.`,
  };
}
