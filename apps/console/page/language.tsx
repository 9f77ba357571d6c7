import { createContext } from 'preact';
import { useContext } from 'preact/hooks';
import { en, type Texts } from './texts/en.ts';
import { zh } from './texts/zh.ts';

export type Language = 'en' | 'zh';

const texts: Readonly<Record<Language, Texts>> = { en, zh };
const locales: Readonly<Record<Language, string>> = { en: 'en-GB', zh: 'zh-CN' };
const keptAs = 'lapse:language';

export interface Speech {
  readonly language: Language;
  readonly t: Texts;
  readonly money: (minor: number, currency: string) => string;
  readonly time: (iso: string) => string;
  readonly dateTime: (iso: string) => string;
  /** To the millisecond, in which the order of things is told. */
  readonly exactTime: (iso: string) => string;
  readonly count: (value: number) => string;
}

/** The person's own choice, else the browser's first language that is spoken here, else English. */
export function firstLanguage(): Language {
  const kept = localStorage.getItem(keptAs);
  if (kept === 'en' || kept === 'zh') return kept;
  for (const tag of navigator.languages) {
    const language = tag.slice(0, 2).toLowerCase();
    if (language === 'en' || language === 'zh') return language;
  }
  return 'en';
}

export function keepLanguage(language: Language): void {
  localStorage.setItem(keptAs, language);
}

export function speechOf(language: Language): Speech {
  const locale = locales[language];
  const time = new Intl.DateTimeFormat(locale, { timeStyle: 'medium' });
  const dateTime = new Intl.DateTimeFormat(locale, { dateStyle: 'medium', timeStyle: 'medium' });
  const exactTime = new Intl.DateTimeFormat(locale, {
    ...({ year: 'numeric', month: 'short', day: 'numeric' } as const),
    ...({ hour: '2-digit', minute: '2-digit', second: '2-digit', fractionalSecondDigits: 3 } as const),
    hourCycle: 'h23',
  });
  const count = new Intl.NumberFormat(locale);
  return {
    language,
    t: texts[language],
    money: (minor, currency) => {
      const format = new Intl.NumberFormat(locale, { style: 'currency', currency });
      return format.format(minor / 10 ** (format.resolvedOptions().maximumFractionDigits ?? 2));
    },
    time: (iso) => time.format(new Date(iso)),
    dateTime: (iso) => dateTime.format(new Date(iso)),
    exactTime: (iso) => exactTime.format(new Date(iso)),
    count: (value) => count.format(value),
  };
}

const SpeechContext = createContext<Speech>(speechOf('en'));
export const SpeechProvider = SpeechContext.Provider;

export function useSpeech(): Speech {
  return useContext(SpeechContext);
}
