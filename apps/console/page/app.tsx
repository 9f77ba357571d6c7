import { lazy, Suspense } from 'preact/compat';
import { useEffect, useMemo, useState } from 'preact/hooks';
import { Frame } from './frame.tsx';
import { firstLanguage, keepLanguage, type Language, SpeechProvider, speechOf } from './language.tsx';
import { useAddress } from './router.tsx';
import { OrderPage } from './shop/order-page.tsx';
import { SalesPage } from './shop/sales-page.tsx';
import { SignIn } from './sign-in.tsx';
import { useSession } from './use-session.ts';

/** Loaded for operators alone. */
const Operations = lazy(async () => ({ default: (await import('./ops/operations.tsx')).Operations }));

export function App() {
  const [language, setLanguage] = useState<Language>(firstLanguage);
  const speech = useMemo(() => speechOf(language), [language]);
  const { session, signIn, signOut } = useSession();
  const address = useAddress();
  useEffect(() => {
    document.documentElement.lang = language === 'zh' ? 'zh-CN' : 'en';
  }, [language]);
  const choose = (chosen: Language): void => {
    keepLanguage(chosen);
    setLanguage(chosen);
  };
  return (
    <SpeechProvider value={speech}>
      <Frame session={session} onLanguage={choose} onSignOut={signOut}>
        {session !== null && <View address={address} kind={session.kind} signIn={signIn} />}
      </Frame>
    </SpeechProvider>
  );
}

interface ViewProps {
  readonly address: URL;
  readonly kind: 'none' | 'guest' | 'buyer' | 'operator';
  readonly signIn: (token: string) => Promise<string | null>;
}

function View({ address, kind, signIn }: ViewProps) {
  const isForOperators = address.pathname.startsWith('/ops');
  if (kind === 'none' || address.pathname === '/sign-in' || (isForOperators && kind !== 'operator')) {
    return <SignIn forOperators={isForOperators} signIn={signIn} />;
  }
  const order = /^\/orders\/([0-9a-f-]{36})$/.exec(address.pathname)?.[1];
  if (order !== undefined) return <OrderPage id={order} />;
  if (isForOperators) {
    return (
      <Suspense fallback={<div class="waiting" />}>
        <Operations address={address} />
      </Suspense>
    );
  }
  return <SalesPage />;
}
