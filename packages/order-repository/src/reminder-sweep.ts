/** Where a run of sweeps is: rows are looked at in the order of their time, each once a run. */
export interface ReminderCursor {
  readonly dueAt: Date;
  readonly id: string;
}

export interface ReminderSweepOptions {
  /** How long past its reminder an order is left to its message. */
  readonly graceMs: number;
  /** Null at the start of a run. */
  readonly after: ReminderCursor | null;
}

export interface ReminderSweep {
  /** Orders that no message reminded, reminded here. */
  readonly reminded: number;
  /** Orders that make their transaction fail, set aside with the reason. */
  readonly parked: readonly string[];
  /** Where to go on; null when nothing that is free is left. */
  readonly next: ReminderCursor | null;
}
