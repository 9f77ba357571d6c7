import { useSpeech } from '../language.tsx';
import { ActionForm } from './action-form.tsx';

export type RowKind = 'parked' | 'refunds' | 'undelivered';

interface RowActionProps {
  readonly of: RowKind;
  readonly ids: readonly number[];
  /** Of what was given up: events for the shop, not notices. */
  readonly areEvents?: boolean;
}

/** What may be done with rows that wait for a person: what would happen, or, after a second question, it. */
export function RowAction({ of, ids, areEvents = false }: RowActionProps) {
  const { t } = useSpeech();
  const actions = {
    parked: { name: t.ops.redrive, effect: t.ops.sureRedrive, path: '/api/ops/parked/redrive' },
    refunds: { name: t.ops.payBack, effect: t.ops.surePayBack, path: '/api/ops/refunds/pay' },
    undelivered: { name: t.ops.resend, effect: t.ops.sureResend, path: '/api/ops/undelivered/resend' },
  } as const;
  const kind = areEvents ? 'shop_event' : 'notification';
  return <ActionForm {...actions[of]} body={{ ids, ...(of === 'undelivered' && { kind }) }} />;
}
