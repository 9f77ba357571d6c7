/** Languages that buyers are written to in. */
export type BuyerLocale = 'en' | 'zh';

/** Most entries of an Accept-Language header that are looked at. */
const languagesMax = 10;

/**
 * The language of a buyer's notices: the token's claim where it names one we have, else the first such
 * language that the browser prefers, else English. Never fails: a strange header means English.
 */
export function buyerLocale(claim: string | undefined, acceptLanguage: string | undefined): BuyerLocale {
  const claimed = knownLocale(claim);
  if (claimed) return claimed;
  if (acceptLanguage === undefined) return 'en';
  const ranges = acceptLanguage.split(',', languagesMax).map((entry) => {
    const [tag = '', ...parameters] = entry.trim().split(';');
    const quality = parameters.map((text) => /^\s*q=([0-9.]+)\s*$/.exec(text)?.[1]).find(Boolean);
    return { tag, quality: quality === undefined ? 1 : Number(quality) };
  });
  // Array.sort is stable: equal qualities keep the caller's order.
  ranges.sort((left, right) => right.quality - left.quality);
  for (const { tag, quality } of ranges) {
    const locale = quality > 0 ? knownLocale(tag) : undefined;
    if (locale) return locale;
  }
  return 'en';
}

/** `zh`, `zh-CN`, `zh_TW` and `ZH-Hant` are all Chinese. */
function knownLocale(tag: string | undefined): BuyerLocale | undefined {
  const language = /^(en|zh)(?:[-_]|$)/i.exec(tag ?? '')?.[1]?.toLowerCase();
  return language === 'en' || language === 'zh' ? language : undefined;
}
