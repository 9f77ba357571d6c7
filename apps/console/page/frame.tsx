import type { ComponentChildren } from 'preact';
import type { SessionView } from '../src/live-states.ts';
import { type Language, useSpeech } from './language.tsx';
import { Link, useAddress } from './router.tsx';

interface FrameProps {
  readonly session: SessionView | null;
  readonly onLanguage: (language: Language) => void;
  readonly onSignOut: () => Promise<void>;
  readonly children: ComponentChildren;
}

/** What every view has around it. */
export function Frame({ session, onLanguage, onSignOut, children }: FrameProps) {
  const { language, t } = useSpeech();
  const { pathname } = useAddress();
  const isOps = pathname.startsWith('/ops');
  const other = language === 'en' ? 'zh' : 'en';
  return (
    <>
      <a class="skip" href="#content">
        {t.frame.skip}
      </a>
      <header class="bar">
        <Link to="/" class="brand">
          Lapse
        </Link>
        <nav aria-label={t.frame.navigation}>
          <Link to="/" aria-current={isOps ? undefined : 'page'}>
            {t.frame.shop}
          </Link>
          {isOps || session?.kind === 'operator' ? (
            <Link to="/ops" aria-current={isOps ? 'page' : undefined}>
              {t.frame.operations}
            </Link>
          ) : null}
        </nav>
        <div class="bar-end">
          {session?.kind === 'operator' || session?.kind === 'buyer' ? (
            <button type="button" class="quiet" onClick={() => void onSignOut()}>
              {t.frame.signOut}
            </button>
          ) : (
            <Link to="/sign-in" class="quiet">
              {t.frame.signIn}
            </Link>
          )}
          <button type="button" class="quiet" lang={other} onClick={() => onLanguage(other)}>
            {t.frame.otherLanguage}
          </button>
        </div>
      </header>
      <main id="content" class={isOps ? 'wide' : 'narrow'}>
        {children}
      </main>
    </>
  );
}
