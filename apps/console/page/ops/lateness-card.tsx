import type { Lateness } from '../../src/live-states.ts';
import { useSpeech } from '../language.tsx';
import { Link } from '../router.tsx';

/** The objective: of 1,000 orders 999 close within so long of their deadline. */
const objectiveMs = 1_000;

export function LatenessCard({ lateness }: { readonly lateness: Lateness | null }) {
  const { t, count } = useSpeech();
  const isMet = lateness === null || lateness.p999Ms <= objectiveMs;
  const figures: readonly (readonly [string, number | undefined])[] = [
    ['p50', lateness?.p50Ms],
    ['p99', lateness?.p99Ms],
    ['p99.9', lateness?.p999Ms],
    ['max', lateness?.maxMs],
  ];
  return (
    <section class="card third" aria-labelledby="lateness">
      <h2 id="lateness">{t.ops.lateness}</h2>
      <div class="tiles two">
        {figures.map(([name, ms]) => (
          <Link to="/ops/list?of=orders&late=" class="tile" key={name}>
            <strong>{ms === undefined ? '–' : `${count(ms)} ms`}</strong>
            <span>{name}</span>
          </Link>
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
