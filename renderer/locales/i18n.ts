import { computed, shallowRef } from 'vue';
import { en } from './en/index.ts';
import {
  fillMessage,
  isLocale,
  locales,
  matchLocale,
  sayIn,
  type Language,
  type Locale,
  type Said,
} from '../../core/contract/index.ts';
import type { PlaceholderOf, PluralForms, ValuesOf } from './types.ts';

type English = typeof en;
export type MessageKey = keyof English;
/** Keys whose message needs no values: what titles and labels are declared with. */
export type PlainKey = {
  [K in MessageKey]: [PlaceholderOf<English[K]>] extends [never] ? K : never;
}[MessageKey];
/** What another language has to offer: every key, counted where English counts. */
export type Messages = { readonly [K in MessageKey]: English[K] extends string ? string : PluralForms };

export { isLocale, locales, matchLocale, type Locale };

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

const language: Language = {
  message: (code) => current.value.messages[code],
  formatNumber: (value) => numbers.value.format(value),
  isOne: (count) => plurals.value.select(count) === 'one',
};

/** The message in the chosen language. Reactive: a template that calls it follows a change of language. */
export const t = <K extends MessageKey>(key: K, ...[values]: ValuesOf<English[K]>): string =>
  fillMessage(current.value.messages[key], values ?? {}, language);

/** A sentence of the host. */
export const tell = (what: Said): string => sayIn(language, what);

let wanted: Locale = 'en';

export const setLocale = async (next: Locale): Promise<void> => {
  wanted = next;
  if (next === current.value.locale) return;
  const messages = await loaders[next]();
  // A later choice may have been made while this one was loading.
  if (wanted === next) current.value = { locale: next, messages };
};
