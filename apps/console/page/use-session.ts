import { useCallback, useEffect, useState } from 'preact/hooks';
import type { SessionView } from '../src/live-states.ts';
import { callApi } from './call-api.ts';

export interface SessionControl {
  /** Null until it is known. */
  readonly session: SessionView | null;
  /** @returns what was wrong with the token, or null. */
  readonly signIn: (token: string) => Promise<string | null>;
  readonly signOut: () => Promise<void>;
}

/** Who looks at the page. Where guests are welcome, whoever comes is one. */
export function useSession(): SessionControl {
  const [session, setSession] = useState<SessionView | null>(null);
  useEffect(() => {
    void callApi<SessionView>('POST', '/api/session/guest').then((answer) => {
      setSession(answer.ok ? answer.value : { kind: 'none', userId: null });
    });
  }, []);
  const signIn = useCallback(async (token: string) => {
    const answer = await callApi<SessionView>('POST', '/api/session', { body: { token } });
    if (answer.ok) setSession(answer.value);
    return answer.ok ? null : (answer.problem?.detail ?? '');
  }, []);
  const signOut = useCallback(async () => {
    await callApi('DELETE', '/api/session');
    const answer = await callApi<SessionView>('POST', '/api/session/guest');
    setSession(answer.ok ? answer.value : { kind: 'none', userId: null });
  }, []);
  return { session, signIn, signOut };
}
