import { ENGLISH, type Language } from './said.ts';

export const locales = ['en', 'de'] as const;
export type Locale = (typeof locales)[number];

export const isLocale = (tag: string): tag is Locale => (locales as readonly string[]).includes(tag);

/** The first of the user's languages that we speak. */
export const matchLocale = (tags: readonly string[]): Locale =>
  tags.map((tag) => tag.toLowerCase().split('-')[0] ?? '').find(isLocale) ?? 'en';

/** English is there from the start; the others are loaded when they are chosen. */
export const loadLanguage = async (locale: Locale): Promise<Language> => {
  if (locale === 'en') return ENGLISH;
  const { german } = await import('./de/index.ts');
  const [numbers, plurals] = [new Intl.NumberFormat(locale), new Intl.PluralRules(locale)];
  return {
    message: (code) => german[code],
    formatNumber: (value) => numbers.format(value),
    isOne: (count) => plurals.select(count) === 'one',
  };
};
