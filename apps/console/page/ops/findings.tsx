import type { FindingState } from '../../src/live-states.ts';
import { useSpeech } from '../language.tsx';
import { Link } from '../router.tsx';

/** The newest of what the auditor found different between the stores. */
export function Findings({ findings }: { readonly findings: readonly FindingState[] }) {
  const { t, dateTime } = useSpeech();
  return (
    <section class="card half" aria-labelledby="findings">
      <div class="sale-head">
        <h2 id="findings">{t.ops.findings}</h2>
        <Link to="/ops/list?of=findings">{t.ops.all}</Link>
      </div>
      {findings.length === 0 ? <p class="soft">{t.ops.noFindings}</p> : null}
      <div class="scroll">
        <table aria-labelledby="findings">
          <tbody>
            {findings.map(({ id, at, activityId, kind, action, healedAt }) => (
              <tr key={id}>
                <td>{dateTime(at)}</td>
                <td>{activityId}</td>
                <td>
                  {kind} <span class="store">{action}</span>
                </td>
                <td>
                  <span class={healedAt === null ? 'badge bad' : 'badge'}>
                    {healedAt === null ? t.ops.open : t.ops.healed}
                  </span>
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </section>
  );
}
