import { useSpeech } from '../language.tsx';
import { navigate } from '../router.tsx';

const fields = ['order', 'user', 'activity', 'payment'] as const;

/** Orders by whatever a person who asks for help can name. */
export function Search() {
  const { t } = useSpeech();
  const names = {
    order: t.ops.byOrder,
    user: t.ops.byUser,
    activity: t.ops.byActivity,
    payment: t.ops.byPayment,
  };
  const find = (event: SubmitEvent): void => {
    event.preventDefault();
    const form = new FormData(event.currentTarget as HTMLFormElement);
    const text = String(form.get('text') ?? '').trim();
    const by = String(form.get('by'));
    if (by === 'order') navigate(`/ops/orders/${text.toLowerCase()}`);
    else navigate(`/ops/list?${new URLSearchParams({ of: 'orders', [by]: text })}`);
  };
  return (
    <section class="card" aria-labelledby="search">
      <h2 id="search">{t.ops.search}</h2>
      <form class="search" onSubmit={find}>
        <div>
          <label for="by">{t.ops.searchBy}</label>
          <select id="by" name="by">
            {fields.map((field) => (
              <option key={field} value={field}>
                {names[field]}
              </option>
            ))}
          </select>
        </div>
        <div class="long">
          <label for="text">{t.ops.what}</label>
          <input id="text" name="text" required maxLength={512} autocomplete="off" spellcheck={false} />
        </div>
        <button type="submit" class="main">
          {t.ops.find}
        </button>
      </form>
    </section>
  );
}
