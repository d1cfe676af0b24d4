import {
  inEnglish,
  loadLanguage,
  matchLocale,
  say,
  sayIn,
  type Language,
  type Locale,
  type Said,
  type SentenceCode,
  type Settings,
} from '../../core/contract/index.ts';

type NativeCode = Extract<SentenceCode, `native.${string}`>;

let shown: { readonly locale: Locale; readonly language: Language } | undefined;

/** Takes the language of the settings, or the system's. True when it is another one than before. */
export const chooseNativeLanguage = async (
  choice: Settings['locale'],
  systemLanguages: readonly string[],
): Promise<boolean> => {
  const locale = choice === 'system' ? matchLocale(systemLanguages) : choice;
  if (shown?.locale === locale) return false;
  shown = { locale, language: await loadLanguage(locale) };
  return true;
};

/** A sentence for menus, dialogs and notifications of the operating system. */
export const inNativeWords = (what: Said): string => (shown ? sayIn(shown.language, what) : inEnglish(what));

export const nativeWord = (code: Exclude<NativeCode, 'native.crash.detail'>): string =>
  inNativeWords(say(code));
