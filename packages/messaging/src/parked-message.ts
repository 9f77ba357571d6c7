import type { Phase } from '@lapse/contracts';

/** A message that nobody could handle, as it is set aside. */
export interface ParkedMessage {
  readonly messageId: string;
  readonly phase: Phase;
  readonly reason: string;
  readonly body: Buffer;
}
