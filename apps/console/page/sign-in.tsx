import { useState } from 'preact/hooks';
import { useSpeech } from './language.tsx';
import { navigate } from './router.tsx';

interface SignInProps {
  readonly forOperators: boolean;
  readonly signIn: (token: string) => Promise<string | null>;
}

export function SignIn({ forOperators, signIn }: SignInProps) {
  const { t } = useSpeech();
  const [fault, setFault] = useState<string | null>(null);
  const [busy, setBusy] = useState(false);
  const submit = async (event: SubmitEvent): Promise<void> => {
    event.preventDefault();
    const form = event.currentTarget as HTMLFormElement;
    setBusy(true);
    const wrong = await signIn(String(new FormData(form).get('token') ?? ''));
    setBusy(false);
    setFault(wrong === '' ? t.trouble.noAnswer : wrong);
    if (wrong !== null) return;
    form.reset();
    if (location.pathname === '/sign-in') navigate('/');
  };
  return (
    <form class="card sign-in" onSubmit={(event) => void submit(event)}>
      <h1>{t.signIn.title}</h1>
      <p class="soft">{forOperators ? t.signIn.forOperators : t.signIn.forBuyers}</p>
      <label for="token">{t.signIn.token}</label>
      <textarea
        id="token"
        name="token"
        rows={4}
        required
        spellcheck={false}
        autocomplete="off"
        aria-describedby="token-help"
      />
      <p id="token-help" class="soft small">
        {t.signIn.help}
      </p>
      <p class="fault" role="alert">
        {fault}
      </p>
      <button type="submit" class="main" disabled={busy}>
        {t.frame.signIn}
      </button>
    </form>
  );
}
