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
 * @returns a function that rejects with DeliveryError; permanent when this buyer has no address.
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
    return checked(emailOf(text), 'what the directory answered');
  };
}

function emailOf(text: string): string {
  try {
    const answer: unknown = JSON.parse(text);
    const email = typeof answer === 'object' && answer !== null && 'email' in answer ? answer.email : '';
    return typeof email === 'string' ? email : '';
  } catch {
    return '';
  }
}

function checked(address: string, whose: string): string {
  if (isMailAddress(address)) return address;
  throw new DeliveryError(`${whose} is not one e-mail address`, { permanent: true });
}
