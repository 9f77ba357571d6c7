import { isIP } from 'node:net';
import type { SettingFault } from './setting.ts';
import { matching, url, value } from './values.ts';

/** Where webhooks are sent to. */
export function webhookUrl() {
  return url(
    ['https:', 'http:'],
    'must be an http or https URL without user and password',
    ({ username, password }) => username === '' && password === '',
  );
}

/** Most entries of a list of addresses. */
const addressesMax = 100;

/** `none`, or host names, IP addresses and ranges such as 10.0.0.0/8, with commas between. */
export function addressList() {
  return value('must be none, or host names, IP addresses and ranges with commas between', (text) => {
    if (text === 'none') return [];
    const entries = text.split(',').map((entry) => entry.trim().toLowerCase());
    return entries.length <= addressesMax && entries.every(isAddressEntry) ? entries : undefined;
  });
}

function isAddressEntry(entry: string): boolean {
  const [address = '', prefix, ...more] = entry.split('/');
  if (more.length > 0) return false;
  const family = isIP(address);
  if (prefix === undefined) return family !== 0 || /^[a-z0-9]([a-z0-9._-]{0,251}[a-z0-9])?$/.test(address);
  return family !== 0 && /^\d{1,3}$/.test(prefix) && Number(prefix) <= (family === 4 ? 32 : 128);
}

/** The fault of two settings that are worth something only together. */
export function oneNeedsOther(
  [first, firstValue]: readonly [string, unknown],
  [second, secondValue]: readonly [string, unknown],
): SettingFault[] {
  if ((firstValue === undefined) === (secondValue === undefined)) return [];
  const [missing, present] = firstValue === undefined ? [first, second] : [second, first];
  return [{ env: missing, fault: `is missing: ${present} needs it` }];
}

/** An e-mail address, or a name and an address in angle brackets. */
export function mailSender() {
  const address = '[^\\s@<>()\\[\\]\\\\,;:"]{1,64}@[A-Za-z0-9.-]{1,253}';
  return matching(
    new RegExp(`^(?:[^<>"@,;:\\\\\\p{C}]{1,100} <${address}>|${address})$`, 'u'),
    'must be an address, or a name and an address: Example Shop <orders@shop.example.com>',
  );
}
