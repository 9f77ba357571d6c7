const units = [
  ['d', 86_400_000],
  ['h', 3_600_000],
  ['min', 60_000],
  ['s', 1_000],
] as const;

/** A duration as operators read it, in at most two units: `2 h 5 min`, `4.2 s`, `310 ms`. */
export function durationInWords(ms: number): string {
  const whole = Math.round(ms);
  if (whole < 1_000) return `${whole} ms`;
  if (whole < 60_000) return `${(whole / 1_000).toFixed(1).replace(/\.0$/, '')} s`;
  const at = units.findIndex(([, unitMs]) => whole >= unitMs);
  const [[unit, unitMs], next] = [units[at] ?? units[0], units[at + 1]];
  const rest = next === undefined ? 0 : Math.floor((whole % unitMs) / next[1]);
  const first = `${Math.floor(whole / unitMs)} ${unit}`;
  return rest === 0 || next === undefined ? first : `${first} ${rest} ${next[0]}`;
}
