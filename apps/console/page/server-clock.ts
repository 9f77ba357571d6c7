import { useEffect, useState } from 'preact/hooks';

/** Server time less this browser's monotonic clock. A message on its way only makes it look smaller: the largest is best. */
let distanceMs = Number.NEGATIVE_INFINITY;

/** The server says that it is this time now. */
export function learnTime(serverMs: number): void {
  distanceMs = Math.max(distanceMs, serverMs - performance.now());
}

/** By the server's clock, whatever this device's is set to. */
export function serverNow(): number {
  return Number.isFinite(distanceMs) ? performance.now() + distanceMs : Date.now();
}

/** Milliseconds until a time; draws anew as each second of it passes, and not in between. Never below zero. */
export function useRemaining(untilMs: number): number {
  const [remaining, setRemaining] = useState(() => Math.max(0, untilMs - serverNow()));
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout>;
    const tick = (): void => {
      const left = untilMs - serverNow();
      setRemaining(Math.max(0, left));
      if (left > 0) timer = setTimeout(tick, (left % 1_000) + 5);
    };
    tick();
    return () => clearTimeout(timer);
  }, [untilMs]);
  return remaining;
}
