import { badRequest } from '../../api/meta/index.ts';

/** Query parameters as upstream's codec reads them into options. */
const INTEGER = /^[+-]?\d+$/;

/** Anything but `0` and `false` is true, also nothing at all. */
export const flagOf = (query: URLSearchParams, name: string): boolean | undefined => {
  const text = query.get(name);
  return text === null ? undefined : text !== '0' && text.toLowerCase() !== 'false';
};

export const integerOf = (query: URLSearchParams, name: string): number | undefined => {
  const text = query.get(name);
  if (text === null) return undefined;
  if (!INTEGER.test(text))
    throw badRequest(`strconv.ParseInt: parsing ${JSON.stringify(text)}: invalid syntax`);
  const value = Number(text);
  if (!Number.isSafeInteger(value))
    throw badRequest(`strconv.ParseInt: parsing ${JSON.stringify(text)}: value out of range`);
  return value;
};

export const textOf = (query: URLSearchParams, name: string): string => query.get(name) ?? '';
