import { DeliveryError } from './delivery-error.ts';
import type { GuardedHttp } from './guarded-http.ts';
import { isMailAddress } from './mail-address.ts';

export interface DirectoryConfig {
  /** With `{userId}` in it; not set, user ids are addresses themselves. */
  readonly directoryUrl?: string;
  /** Sent as a bearer token. */
  readonly directoryToken?: string;
}

/**
 * Where a buyer's mail goes. Lapse keeps no addresses: either the user ids of the tokens are addresses, or the
 * shop's directory is asked for each mail and answers `{"email": "…"}`.
 * @returns a function that rejects with DeliveryError; permanent when this buyer has no address: 404, or an `email`
 * that is none. Any other answer, whole or cut off, may be another one next time.
 */
export function openBuyerAddresses(
  { directoryUrl, directoryToken }: DirectoryConfig,
  http: Pick<GuardedHttp, 'send'>,
): (userId: string) => Promise<string> {
  if (directoryUrl === undefined) return async (userId) => checked(userId, 'the user id');
  return async (userId) => {
    const { status, retryAfterMs, text } = await http.send({
      method: 'GET',
      url: directoryUrl.replaceAll('{userId}', encodeURIComponent(userId)),
      headers: {
        accept: 'application/json',
        'user-agent': 'Lapse',
        ...(directoryToken !== undefined && { authorization: `Bearer ${directoryToken}` }),
      },
    });
    if (status === 404)
      throw new DeliveryError('the directory knows no address', { status, permanent: true });
    if (status !== 200) {
      throw new DeliveryError(`the directory answered ${status}`, {
        status,
        ...(retryAfterMs !== undefined && { retryAfterMs }),
      });
    }
    const email = emailOf(text);
    if (email === undefined)
      throw new DeliveryError('the directory did not answer {"email": "…"}', { status });
    return checked(typeof email === 'string' ? email : '', 'what the directory answered');
  };
}

/** @returns undefined when the answer is not of the shape that was agreed. */
function emailOf(text = ''): unknown {
  try {
    const answer: unknown = JSON.parse(text);
    return typeof answer === 'object' && answer !== null && 'email' in answer ? answer.email : undefined;
  } catch {
    return undefined;
  }
}

function checked(address: string, whose: string): string {
  if (isMailAddress(address)) return address;
  throw new DeliveryError(`${whose} is not one e-mail address`, { permanent: true });
}
