import { problems } from '@lapse/contracts';
import type { Problem } from '@lapse/operations';
import type { CommandResult } from './command.ts';
import { exitCodes } from './exit-codes.ts';
import { refusedShape } from './shapes/change.ts';

/** Where the API speaks to a buyer: an operator sees everybody's orders. */
const ownAdvice: Partial<Record<Problem['code'], string>> = {
  ORDER_NOT_FOUND: 'Check the order id; `lapse order find` looks by user, activity or payment.',
};

/** Said no to: nothing was changed. The code is the API's. */
export function refusedResult({ code, detail, retryAfterSeconds, ...facts }: Problem): CommandResult {
  const { title, advice } = problems[code];
  const wait = retryAfterSeconds === undefined ? {} : { retryAfterSeconds };
  const problem = { code, title, detail: detail ?? ownAdvice[code] ?? advice, ...facts, ...wait };
  const more = Object.entries({ ...facts, ...wait }).map(([name, value]) => `\n  ${name}: ${String(value)}`);
  return {
    shape: refusedShape,
    data: { outcome: 'refused', problem },
    text: `refused: ${title} (${code}). ${problem.detail}${more.join('')}`,
    exitCode: exitCodes.found,
  };
}
