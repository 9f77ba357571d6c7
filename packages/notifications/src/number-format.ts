/** Kept at most: locales and currencies are few, but come from outside. */
const formatsMax = 100;
const formats = new Map<string, Intl.NumberFormat>();

/** `new Intl.NumberFormat`, made once for each locale and manner: to make one costs more than a whole notice. */
export function numberFormat(locale: string, options: Intl.NumberFormatOptions): Intl.NumberFormat {
  const key = `${locale} ${JSON.stringify(options)}`;
  const known = formats.get(key);
  if (known) return known;
  if (formats.size >= formatsMax) formats.clear();
  const format = new Intl.NumberFormat(locale, options);
  formats.set(key, format);
  return format;
}
