import { formatAmount } from '@lapse/notifications';

/** How times and amounts are written for the person at this terminal. */
export interface Words {
  /** To the millisecond, in the zone of this machine. */
  time(at: Date | string): string;
  amount(amountMinor: number, currency: string): string;
  /** Which zone that is, as one line says it: `Asia/Shanghai, UTC+08:00`. */
  readonly zone: string;
}

/** Words in the local zone: an operator compares them with the clock on the wall. With --json all times are UTC. */
export function localWords(): Words {
  const { timeZone } = Intl.DateTimeFormat().resolvedOptions();
  return {
    zone: timeZone === 'UTC' ? timeZone : `${timeZone}, UTC${offsetOf(new Date())}`,
    time: (at) => {
      const date = new Date(at);
      const local = new Date(date.getTime() - date.getTimezoneOffset() * 60_000).toISOString();
      return `${local.slice(0, 10)} ${local.slice(11, 23)}`;
    },
    amount: (amountMinor, currency) => formatAmount('en', amountMinor, currency),
  };
}

/** The same for programs: ISO 8601 in UTC. */
export function utcWords(): Words {
  return { ...localWords(), zone: 'UTC', time: (at) => new Date(at).toISOString() };
}

function offsetOf(at: Date): string {
  const minutes = -at.getTimezoneOffset();
  const pad = (number: number): string => String(Math.floor(number)).padStart(2, '0');
  return `${minutes < 0 ? '-' : '+'}${pad(Math.abs(minutes) / 60)}:${pad(Math.abs(minutes) % 60)}`;
}
