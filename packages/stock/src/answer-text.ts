/** What Redis before 7.0 puts before the answer to a command of a script: the script and the line, once or twice. */
const place = /^ERR Error running script \(call to \w+\): @user_script:\d+: (?:@user_script: ?\d+: )?-?/;

/** An answer that is an error as Redis 7 has it, from a script or not: its code first. */
export function answerText({ message }: Error): string {
  return message.replace(place, '');
}
