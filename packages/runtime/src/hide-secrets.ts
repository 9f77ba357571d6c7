/**
 * Take the password out of every URL in a text: `mysql://lapse:[hidden]@db/lapse`. Drivers put their
 * connection URL into error messages, and those reach logs and probes.
 * Every repetition is bounded and begins at `://`, so a long line costs linear time.
 */
export function hideUrlPasswords(text: string): string {
  if (!text.includes('://')) return text;
  return text.replace(/:\/\/([^\s:@/"\\]{0,128}):[^\s/"\\]{1,512}@/g, '://$1:[hidden]@');
}
