import { ConfigError, type ConsumeConfig, type ProcessConfig } from '@lapse/runtime';

/** A poll that was begun just before comes back so much after its wait at most, from a broker that is well; */
const pollDelayMsMax = 2_000;
/** and at least so much is given to it. */
const pollDelayMsMin = 300;
/** The least time for the batch in hand, once the polls are back. */
const workMsMin = 500;
/** To acknowledge what is done and hand back what is not. */
const handBackMsMax = 500;
/** To take leave of the broker, which forgets a client by itself as well. */
const clientMsMax = 500;
/** Kept free at the end, so that the close is over before its time box is. */
const marginMs = 200;
const afterPollMsMin = pollDelayMsMin + workMsMin + handBackMsMax + clientMsMax + marginMs;

/** What bounds a consumer's close. */
export type CloseLimits = Pick<ConsumeConfig, 'awaitMs'> &
  Pick<ProcessConfig, 'closeTimeoutMs' | 'shutdownTimeoutMs'>;

/** The latest end of each step of a consumer's close, in ms from its start. */
export interface ClosePlan {
  readonly pollsMs: number;
  readonly workMs: number;
  readonly handBackMs: number;
  /** Longest time of the last step. */
  readonly clientMsMax: number;
}

/**
 * Divide the time that the process gives a part to close. A receive that was just begun comes back after `awaitMs`;
 * a close that is cut off closes the stores under a handler at work, so what cannot fit is refused at the start.
 * @throws ConfigError (LAPSE_CONFIG_INVALID) when the receives leave less than 2 s for the rest.
 */
export function planClose({ awaitMs, closeTimeoutMs, shutdownTimeoutMs }: CloseLimits): ClosePlan {
  const closeMsMax = Math.min(closeTimeoutMs, shutdownTimeoutMs);
  if (closeMsMax < awaitMs + afterPollMsMin) {
    const fault = `(${awaitMs} ms) must be at least ${afterPollMsMin} ms shorter than LAPSE_SHUTDOWN_STEP_TIMEOUT and LAPSE_SHUTDOWN_TIMEOUT (${closeTimeoutMs} and ${shutdownTimeoutMs} ms), because a worker that stops waits for its receives: make it shorter, or those longer`;
    throw new ConfigError([{ name: 'LAPSE_RECEIVE_AWAIT', fault }]);
  }
  const handBackMs = closeMsMax - marginMs - clientMsMax;
  const workMs = handBackMs - handBackMsMax;
  return { pollsMs: Math.min(awaitMs + pollDelayMsMax, workMs - workMsMin), workMs, handBackMs, clientMsMax };
}
