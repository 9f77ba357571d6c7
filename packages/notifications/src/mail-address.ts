/**
 * One mailbox and nothing else: no list, no name, no comment, no line break, so that what a token or a directory
 * says can add neither a header nor a second recipient.
 */
export function isMailAddress(text: string): boolean {
  return text.length <= 254 && /^[^\s@<>()[\]\\,;:"\p{C}]{1,64}@[^\s@<>()[\]\\,;:"\p{C}]{1,253}$/u.test(text);
}
