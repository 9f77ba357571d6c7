import { useSpeech } from '../language.tsx';
import { Link } from '../router.tsx';

/** Deadlines ahead, a bar for each minute, the tallest as high as the box. */
export function DueBars({ due }: { readonly due: readonly number[] }) {
  const { t, count } = useSpeech();
  const most = Math.max(1, ...due);
  return (
    <section class="card half" aria-labelledby="due">
      <h2 id="due">{t.ops.due}</h2>
      <div class="scroll">
        <ol class="bars">
          {due.map((orders, minute) => {
            const height = (orders / most) * 100;
            return (
              // The minute is what a bar is, so its place is its key.
              <li key={`minute ${minute}`}>
                <Link to={`/ops/list?of=orders&due=${minute}`}>
                  <svg viewBox="0 0 10 100" preserveAspectRatio="none" role="img">
                    <title>{t.ops.dueBar(minute, count(orders))}</title>
                    <rect x="0" y={100 - height} width="10" height={height} />
                  </svg>
                </Link>
              </li>
            );
          })}
        </ol>
      </div>
      <div class="axis">
        <span>0</span>
        <span>{t.ops.minutes}</span>
        <span>{due.length}</span>
      </div>
    </section>
  );
}
