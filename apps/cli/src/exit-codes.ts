/** What the exit code of `lapse` says. Scripts rely on it: a number never gets another meaning. */
export const exitCodes = {
  /** Done, or nothing wrong was found. */
  ok: 0,
  /** A check failed, something was found, or the change was refused. */
  found: 1,
  /** The command or a setting is not valid. Nothing was asked. */
  usage: 2,
  /** A store does not answer. Nothing was changed: the same again later will do. */
  away: 3,
  /** A store was lost in the middle of a change: repeat the command with the same --key. */
  unknown: 4,
  /** A fault in Lapse itself. */
  fault: 70,
} as const;
export type ExitCode = (typeof exitCodes)[keyof typeof exitCodes];
