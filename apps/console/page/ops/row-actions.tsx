import { useSpeech } from '../language.tsx';
import { ActionForm } from './action-form.tsx';

interface RowActionsProps {
  readonly of: 'parked' | 'refunds' | 'undelivered';
  readonly ids: readonly number[];
}

/** What may be done with the chosen rows of a list: first what would happen, then, after a second question, it. */
export function RowActions({ of, ids }: RowActionsProps) {
  const { t } = useSpeech();
  const actions = {
    parked: { name: t.ops.redrive, effect: t.ops.sureRedrive, path: '/api/ops/parked/redrive' },
    refunds: { name: t.ops.payBack, effect: t.ops.surePayBack, path: '/api/ops/refunds/pay' },
    undelivered: { name: t.ops.resend, effect: t.ops.sureResend, path: '/api/ops/undelivered/resend' },
  } as const;
  const body = { ids, dryRun: false, ...(of === 'undelivered' && { kind: 'notification' }) };
  return (
    <section class="card" aria-labelledby="chosen">
      <h2 id="chosen">{t.ops.selected(ids.length)}</h2>
      <ActionForm {...actions[of]} body={body} canTry />
    </section>
  );
}
