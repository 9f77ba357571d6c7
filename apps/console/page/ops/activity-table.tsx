import type { ActivityState, Places } from '../../src/live-states.ts';
import { useSpeech } from '../language.tsx';
import { Link } from '../router.tsx';
import { PauseForm } from './pause-form.tsx';

/** Each activity's places in both stores, one below the other. */
export function ActivityTable({ activities }: { readonly activities: readonly ActivityState[] }) {
  const { t } = useSpeech();
  return (
    <section class="card" aria-labelledby="activities">
      <h2 id="activities">{t.ops.activities}</h2>
      <div class="scroll">
        <table>
          <thead>
            <tr>
              <th scope="col">{t.ops.activity}</th>
              <th scope="col">
                <span class="store">MySQL / Redis</span>
              </th>
              <th scope="col" class="number">
                {t.ops.capacity}
              </th>
              <th scope="col" class="number">
                {t.ops.free}
              </th>
              <th scope="col" class="number">
                {t.ops.held}
              </th>
              <th scope="col" class="number">
                {t.ops.sold}
              </th>
            </tr>
          </thead>
          <tbody>
            {activities.map((activity) => (
              <ActivityRow key={activity.id} activity={activity} />
            ))}
          </tbody>
        </table>
      </div>
    </section>
  );
}

function ActivityRow({ activity }: { readonly activity: ActivityState }) {
  const { t, count } = useSpeech();
  const { id, name, capacity, mysql, redis, paused } = activity;
  const list = `/ops/list?of=orders&activity=${id}`;
  const lists = { held: `${list}&status=PENDING`, sold: `${list}&status=PAID` } as const;
  const cell = (of: keyof Places) => (
    <td class="number">
      {of === 'free' ? count(mysql[of]) : <Link to={lists[of]}>{count(mysql[of])}</Link>}
      <br />
      <span class={redis !== null && redis[of] !== mysql[of] ? 'badge bad' : 'store'}>
        {redis === null ? '–' : count(redis[of])}
      </span>
    </td>
  );
  return (
    <tr data-activity={id}>
      <td>
        <Link to={list}>{name}</Link> <span class="store">{id}</span>
        {paused ? <span class="badge warn">{t.sales.paused}</span> : null}
        <PauseForm
          name={name}
          path={`/api/activities/${id}`}
          isPaused={paused}
          effects={[t.ops.surePauseSale, t.ops.sureResumeSale]}
        />
      </td>
      <td>
        <Agreement activity={activity} />
      </td>
      <td class="number">{count(capacity)}</td>
      {cell('free')}
      {cell('held')}
      {cell('sold')}
    </tr>
  );
}

function Agreement({ activity: { redis, drift } }: { readonly activity: ActivityState }) {
  const { t } = useSpeech();
  if (redis === null) return <span class="badge warn">{t.ops.redisAway}</span>;
  return drift ? <span class="badge bad">{t.ops.drift}</span> : <span class="badge">{t.ops.agree}</span>;
}
