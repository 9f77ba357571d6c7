import { stripVTControlCharacters } from 'node:util';

/**
 * Text of others on one line, without what would move the cursor or colour the terminal: reasons, errors of providers
 * and messages come from outside.
 */
export function plainText(text: string): string {
  return stripVTControlCharacters(text).replaceAll(/\p{Cc}+/gu, ' ');
}
