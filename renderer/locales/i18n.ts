import { computed, shallowRef } from 'vue';
import { en } from './en/index.ts';
import type { Message, PlaceholderOf, PluralForms } from './types.ts';

type English = typeof en;
export type MessageKey = keyof English;
/** Keys whose message needs no values: what titles and labels are declared with. */
export type PlainKey = {
  [K in MessageKey]: [PlaceholderOf<English[K]>] extends [never] ? K : never;
}[MessageKey];
/** What another language has to offer: every key, counted where English counts. */
export type Messages = { readonly [K in MessageKey]: English[K] extends string ? string : PluralForms };

export const locales = ['en', 'de'] as const;
export type Locale = (typeof locales)[number];

type Values<K extends MessageKey> = [PlaceholderOf<English[K]>] extends [never]
  ? []
  : [values: Readonly<Record<PlaceholderOf<English[K]>, string | number>>];

/** English is part of the first load; the others are fetched when chosen. */
const loaders: Record<Locale, () => Promise<Messages>> = {
  en: () => Promise.resolve(en),
  de: () => import('./de/index.ts').then((module) => module.de),
};

const current = shallowRef<{ readonly locale: Locale; readonly messages: Messages }>({
  locale: 'en',
  messages: en,
});

export const locale = computed(() => current.value.locale);
const numbers = computed(() => new Intl.NumberFormat(locale.value));
const plurals = computed(() => new Intl.PluralRules(locale.value));

const fill = (text: string, values: Readonly<Record<string, string | number>>): string =>
  text.replaceAll(/\{(\w+)\}/g, (whole, name: string) => {
    const value = values[name];
    if (value === undefined) return whole;
    return typeof value === 'number' ? numbers.value.format(value) : value;
  });

const pickForm = (message: Message, count: unknown): string => {
  if (typeof message === 'string') return message;
  return plurals.value.select(Number(count)) === 'one' ? message.one : message.other;
};

/** The message in the chosen language. Reactive: a template that calls it follows a change of language. */
export const t = <K extends MessageKey>(key: K, ...args: Values<K>): string => {
  const values: Readonly<Record<string, string | number>> = args[0] ?? {};
  return fill(pickForm(current.value.messages[key], values['count']), values);
};

export const isLocale = (tag: string): tag is Locale => (locales as readonly string[]).includes(tag);

/** The first of the user's languages that we speak. */
export const matchLocale = (languages: readonly string[]): Locale =>
  languages.map((tag) => tag.toLowerCase().split('-')[0] ?? '').find(isLocale) ?? 'en';

let wanted: Locale = 'en';

export const setLocale = async (next: Locale): Promise<void> => {
  wanted = next;
  if (next === current.value.locale) return;
  const messages = await loaders[next]();
  // A later choice may have been made while this one was loading.
  if (wanted === next) current.value = { locale: next, messages };
};
