import { ReplyError } from 'ioredis';
import { expect, it } from 'vitest';
import { isStockUnavailable } from '../src/index.ts';
import { isWrongType } from '../src/is-wrong-type.ts';
import { namedFailure } from '../src/stock-unavailable.ts';

const place =
  'ERR Error running script (call to f_7a8d132e620a00844a78eec32ce5984c7aecbc4d): @user_script:86: ';

function failureOf(answer: string): Error {
  return namedFailure(new ReplyError(answer), 'reserve', undefined);
}

it.each([
  `${place}@user_script: 86: -OOM command not allowed when used memory > 'maxmemory'.`,
  `${place}@user_script: 86: -READONLY You can't write against a read only replica.`,
  `${place}@user_script: 86: -MISCONF Redis is configured to save RDB snapshots.`,
  `${place}@user_script: 86: The user executing the script can't run this command or subcommand`,
])('what a script could not write counts as Redis being away, with its reason: %s', (answer) => {
  const failure = failureOf(answer);
  expect(isStockUnavailable(failure)).toBe(true);
  expect(failure.message).toMatch(/reserve: (OOM|READONLY|MISCONF|The user)/);
});

it('a key of another type is one in a script too; a fault of the script itself is neither', () => {
  expect(isWrongType(failureOf(`${place}WRONGTYPE Operation against a key`))).toBe(true);
  const fault = failureOf(`${place}attempt to compare nil with number`);
  expect([isStockUnavailable(fault), isWrongType(fault)]).toEqual([false, false]);
});
