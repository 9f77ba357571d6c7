import type { WorkerStatus } from '../../src/live-states.ts';
import { type Speech, useSpeech } from '../language.tsx';
import { PauseForm } from './pause-form.tsx';

/** Which processes are alive, what each has to do, and a way to pause it. */
export function WorkerTable({ workers }: { readonly workers: readonly WorkerStatus[] }) {
  const speech = useSpeech();
  const { t } = speech;
  return (
    <section class="card" aria-labelledby="workers">
      <h2 id="workers">{t.ops.workers}</h2>
      <div class="scroll">
        <table>
          <thead>
            <tr>
              <th scope="col">{t.ops.kind}</th>
              <th scope="col">{t.ops.state}</th>
              <th scope="col">{t.ops.version}</th>
              <th scope="col" class="number">
                {t.ops.inHand}
              </th>
              <th scope="col" class="number">
                {t.ops.waiting}
              </th>
              <th scope="col" class="number">
                {t.ops.lateP99}
              </th>
              <th scope="col" class="number">
                {t.ops.busy}
              </th>
            </tr>
          </thead>
          <tbody>
            {workers.map((worker) => (
              <WorkerRow key={worker.id} worker={worker} speech={speech} />
            ))}
          </tbody>
        </table>
      </div>
    </section>
  );
}

function WorkerRow({ worker, speech: { t, count } }: { worker: WorkerStatus; speech: Speech }) {
  const { id, kind, host, pid, version, state, wanted, alive, figures } = worker;
  const cell = (value: number | undefined, unit = '') => (
    <td class="number">{value === undefined ? '–' : `${count(value)}${unit}`}</td>
  );
  const isDead = !alive && state !== 'STOPPED';
  return (
    <tr data-worker={kind}>
      <td>
        {kind}{' '}
        <span class="store">
          {host} {pid}
        </span>
        {alive ? (
          <PauseForm
            name={`${kind} ${pid}`}
            path={`/api/workers/${id}`}
            isPaused={wanted === 'PAUSE'}
            effects={[t.ops.surePause, t.ops.sureResume]}
          />
        ) : null}
      </td>
      <td>
        <span class={`badge ${isDead ? 'bad' : state === 'RUNNING' ? '' : 'warn'}`}>
          {isDead ? t.ops.dead : t.ops[state]}
        </span>
      </td>
      <td>{version}</td>
      {cell(figures.inHand)}
      {cell(figures.waiting)}
      {cell(figures.latenessP99Ms, ' ms')}
      {cell(figures.loopBusyPercent, ' %')}
    </tr>
  );
}
