import { randomInt } from 'node:crypto';

/** Random values of a prefix: 36^8, so two runs on one broker do not meet. */
const prefixValues = 36 ** 8;

/** A prefix for topics and groups that no other test file uses: `t-` + 8 characters of [a-z0-9] + `-`. */
export function testTopicPrefix(): string {
  return `t-${randomInt(prefixValues).toString(36).padStart(8, '0')}-`;
}
