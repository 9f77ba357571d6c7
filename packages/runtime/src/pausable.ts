/** A part of a process that an operator may pause and resume. No call throws or waits, and each may be repeated. */
export interface Pausable {
  /** Take nothing new; what is in hand is finished, or given back. */
  pause(): void;
  /** Go on, also in the middle of pausing. */
  resume(): void;
  /** Paused, and nothing is in hand any more. */
  isDrained(): boolean;
}
