import type { Lateness } from '../../src/live-states.ts';
import { useSpeech } from '../language.tsx';

/** At most so late at the 99th percentile: what the system promises while it runs steadily. */
const objectiveMs = 50;

export function LatenessCard({ lateness }: { readonly lateness: Lateness | null }) {
  const { t, count } = useSpeech();
  const isMet = lateness === null || lateness.p99Ms <= objectiveMs;
  const figures: readonly (readonly [string, number | undefined])[] = [
    ['p50', lateness?.p50Ms],
    ['p99', lateness?.p99Ms],
    ['max', lateness?.maxMs],
  ];
  return (
    <section class="card third" aria-labelledby="lateness">
      <h2 id="lateness">{t.ops.lateness}</h2>
      <div class="tiles three">
        {figures.map(([name, ms]) => (
          <div class="tile" key={name}>
            <strong>{ms === undefined ? '–' : `${count(ms)} ms`}</strong>
            <span>{name}</span>
          </div>
        ))}
      </div>
      <p class="soft small">
        {t.ops.objective}{' '}
        {lateness === null ? (
          <span class="badge warn">{t.ops.noneClosed}</span>
        ) : (
          <span class={isMet ? 'badge' : 'badge bad'}>{isMet ? t.ops.met : t.ops.missed}</span>
        )}
      </p>
    </section>
  );
}
