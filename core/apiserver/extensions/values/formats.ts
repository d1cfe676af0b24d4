import { parseCidr, parseIp } from '../../../api/validation/ip.ts';

/** The formats of strings that upstream checks, by their names without hyphens. Others are not looked at. */

const UUID = /^[0-9a-f]{8}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{12}$/i;
const UUID3 = /^[0-9a-f]{8}-?[0-9a-f]{4}-?3[0-9a-f]{3}-?[0-9a-f]{4}-?[0-9a-f]{12}$/i;
const UUID4 = /^[0-9a-f]{8}-?[0-9a-f]{4}-?4[0-9a-f]{3}-?[89ab][0-9a-f]{3}-?[0-9a-f]{12}$/i;
const UUID5 = /^[0-9a-f]{8}-?[0-9a-f]{4}-?5[0-9a-f]{3}-?[89ab][0-9a-f]{3}-?[0-9a-f]{12}$/i;
const HOST_LABEL = /^[a-zA-Z0-9\p{S}\p{L}](?:[a-zA-Z0-9\-\p{S}\p{L}]{0,61}[a-zA-Z0-9\p{S}\p{L}])?$/u;
const TOP_LEVEL = /^[a-zA-Z\p{L}]{2,63}$/u;
const SHORT_NAME = /^[a-z0-9](?:[-a-z0-9]*[a-z0-9])?$/;
const LONG_NAME = /^[a-z0-9](?:[-a-z0-9]*[a-z0-9])?(?:\.[a-z0-9](?:[-a-z0-9]*[a-z0-9])?)*$/;
const BASE64 = /^(?:[A-Za-z0-9+\\/]{4})*(?:[A-Za-z0-9+\\/]{2}==|[A-Za-z0-9+\\/]{3}=|[A-Za-z0-9+\\/]{4})$/;
const CREDIT_CARD =
  /^(?:4[0-9]{12}(?:[0-9]{3})?|5[1-5][0-9]{14}|6(?:011|5[0-9][0-9])[0-9]{12}|3[47][0-9]{13}|3(?:0[0-5]|[68][0-9])[0-9]{11}|(?:2131|1800|35\d{3})\d{11})$/;
const RGB =
  /^rgb\(\s*(?:0|[1-9]\d?|1\d\d?|2[0-4]\d|25[0-5])\s*,\s*(?:0|[1-9]\d?|1\d\d?|2[0-4]\d|25[0-5])\s*,\s*(?:0|[1-9]\d?|1\d\d?|2[0-4]\d|25[0-5])\s*\)$/;
const DATE = /^(\d{4})-(\d{2})-(\d{2})$/;
const DATE_TIME = /^(\d{4})-(\d{2})-(\d{2})[Tt](\d{2}):(\d{2}):(\d{2})(?:\.\d+)?(?:[Zz]|[+-]\d{2}:?\d{2})$/;
const DURATION_GO = /^[+-]?(?:0|(?:(?:\d+\.?\d*|\.\d+)(?:ns|us|µs|μs|ms|s|m|h))+)$/;
const DURATION_WORDS =
  /^\s*(?:[\d.]+\s*(?:ns|nanos?|nanoseconds?|us|µs|micros?|microseconds?|ms|millis?|milliseconds?|s|secs?|seconds?|m|mins?|minutes?|h|hrs?|hours?|d|days?|w|wks?|weeks?)\s*)+$/i;
const MAC = [
  /^(?:[0-9a-fA-F]{2}:){5}[0-9a-fA-F]{2}$/,
  /^(?:[0-9a-fA-F]{2}:){7}[0-9a-fA-F]{2}$/,
  /^(?:[0-9a-fA-F]{2}:){19}[0-9a-fA-F]{2}$/,
  /^(?:[0-9a-fA-F]{2}-){5}[0-9a-fA-F]{2}$/,
  /^(?:[0-9a-fA-F]{2}-){7}[0-9a-fA-F]{2}$/,
  /^(?:[0-9a-fA-F]{2}-){19}[0-9a-fA-F]{2}$/,
  /^(?:[0-9a-fA-F]{4}\.){2}[0-9a-fA-F]{4}$/,
  /^(?:[0-9a-fA-F]{4}\.){3}[0-9a-fA-F]{4}$/,
  /^(?:[0-9a-fA-F]{4}\.){9}[0-9a-fA-F]{4}$/,
];

const isHostname = (text: string): boolean => {
  if (Buffer.byteLength(text) > 255) return false;
  const labels = text.split('.');
  if (labels.some((label) => !HOST_LABEL.test(label) || Buffer.byteLength(label) > 63)) return false;
  return labels.length === 1 || TOP_LEVEL.test(labels.at(-1)!);
};

const isDay = (year: string, month: string, day: string): boolean => {
  const date = new Date(Date.UTC(Number(year), Number(month) - 1, Number(day)));
  return date.getUTCMonth() === Number(month) - 1 && date.getUTCDate() === Number(day);
};

const isDateTime = (text: string): boolean => {
  const match = DATE_TIME.exec(text);
  if (!match) return false;
  const [, year = '', month = '', day = '', hours = '', minutes = '', seconds = ''] = match;
  return isDay(year, month, day) && Number(hours) < 24 && Number(minutes) < 60 && Number(seconds) < 60;
};

/** `net/url.ParseRequestURI` takes an absolute URI or a path. */
const isRequestUri = (text: string): boolean => {
  if (text === '' || /[\u0000-\u001f\u007f ]/.test(text) || /%(?![0-9a-fA-F]{2})/.test(text)) return false;
  return text.startsWith('/') || /^[a-zA-Z][a-zA-Z0-9+.-]*:[^:]/.test(text);
};

const isEmail = (text: string): boolean =>
  /^(?:[^<>@",]*<)?(?:"(?:[^"\\]|\\.)+"|[^\s@<>(),:;"[\]\\]+)@(?:\[[^\]\s]+\]|[^\s@<>(),:;"[\]\\]+)>?$/.test(
    text,
  );

const digitsOf = (text: string): string => text.replaceAll(/[\s-]+/g, '');

const isIsbn10 = (text: string): boolean => {
  const digits = digitsOf(text);
  if (!/^\d{9}[\dX]$/.test(digits)) return false;
  const sum = [...digits].reduce(
    (all, digit, at) => all + (at + 1) * (digit === 'X' ? 10 : Number(digit)),
    0,
  );
  return sum % 11 === 0;
};

const isIsbn13 = (text: string): boolean => {
  const digits = digitsOf(text);
  if (!/^\d{13}$/.test(digits)) return false;
  const sum = [...digits]
    .slice(0, 12)
    .reduce((all, digit, at) => all + Number(digit) * (at % 2 === 0 ? 1 : 3), 0);
  return (10 - (sum % 10)) % 10 === Number(digits[12]);
};

const isCreditCard = (text: string): boolean => {
  const digits = text.replaceAll(/[^0-9]+/g, '');
  if (!CREDIT_CARD.test(digits)) return false;
  const sum = [...digits].reverse().reduce((all, digit, at) => {
    const doubled = Number(digit) * 2;
    return all + (at % 2 === 0 ? Number(digit) : doubled > 9 ? doubled - 9 : doubled);
  }, 0);
  return sum % 10 === 0;
};

const FORMATS: Readonly<Record<string, ((text: string) => boolean) | undefined>> = {
  bsonobjectid: (text) => /^[0-9a-fA-F]{24}$/.test(text),
  uri: isRequestUri,
  email: isEmail,
  hostname: isHostname,
  ipv4: (text) => text.includes('.') && parseIp(text) !== undefined,
  ipv6: (text) => text.includes(':') && parseIp(text) !== undefined,
  cidr: (text) => parseCidr(text) !== undefined,
  mac: (text) => MAC.some((form) => form.test(text)),
  uuid: (text) => UUID.test(text),
  uuid3: (text) => UUID3.test(text),
  uuid4: (text) => UUID4.test(text),
  uuid5: (text) => UUID5.test(text),
  isbn: (text) => isIsbn10(text) || isIsbn13(text),
  isbn10: isIsbn10,
  isbn13: isIsbn13,
  creditcard: isCreditCard,
  ssn: (text) => /^\d{3}[- ]?\d{2}[- ]?\d{4}$/.test(text),
  hexcolor: (text) => /^#?(?:[0-9a-fA-F]{3}|[0-9a-fA-F]{6})$/.test(text),
  rgbcolor: (text) => RGB.test(text),
  byte: (text) => BASE64.test(text),
  password: () => true,
  date: (text) => {
    const match = DATE.exec(text);
    return match !== null && isDay(match[1]!, match[2]!, match[3]!);
  },
  duration: (text) => DURATION_GO.test(text) || DURATION_WORDS.test(text),
  datetime: isDateTime,
  k8sshortname: (text) => text.length <= 63 && SHORT_NAME.test(text),
  k8slongname: (text) => text.length <= 253 && LONG_NAME.test(text),
};

const NUMBER_FORMATS: Readonly<Record<string, readonly string[] | undefined>> = {
  integer: ['int32', 'int64'],
  number: ['float', 'double'],
};

/** The format as it counts for a type: empty where upstream does not look at it. */
export const effectiveFormat = (type: string, format: string): string => {
  if (format === '') return '';
  if (type === '' || type === 'string') return FORMATS[format.replaceAll('-', '')] ? format : '';
  return NUMBER_FORMATS[type]?.includes(format) ? format : '';
};

export const isOfFormat = (format: string, text: string): boolean =>
  FORMATS[format.replaceAll('-', '')]?.(text) ?? true;
