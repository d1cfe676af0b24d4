import { quantityFrom, type Quantity } from '../../../core/api/quantity/index.ts';
import { formatCount, formatPercent, formatShort } from '../../locales/format.ts';
import { textOf } from '../kube-object.ts';

/** Undefined where a server holds what is no quantity. */
export const readAmount = (value: unknown): Quantity | undefined => {
  if (value === undefined || value === null) return undefined;
  try {
    return quantityFrom(value);
  } catch {
    return undefined;
  }
};

const BYTE_UNITS = ['Ki', 'Mi', 'Gi', 'Ti', 'Pi'] as const;
const BYTE_RESOURCE = /^(memory|ephemeral-storage|storage|hugepages-)/;

const bytesText = (bytes: number): string => {
  let value = bytes;
  let unit = '';
  for (const next of BYTE_UNITS) {
    if (value < 1024) break;
    value /= 1024;
    unit = next;
  }
  // 2Gi is what a person wrote; 2.0Gi would be the server's rounding.
  return `${Number.isInteger(value) ? formatCount(value) : formatShort(value)}${unit}`;
};

/** As the API writes it, but rounded: 16384256Ki is 15.6Gi to a person. */
export const amountText = (resource: string, value: unknown): string => {
  const amount = readAmount(value);
  if (!amount) return textOf(value);
  if (BYTE_RESOURCE.test(resource)) return bytesText(amount.toNumber());
  return amount.toString();
};

export const shareOf = (part: number, whole: number): number =>
  whole <= 0 ? 0 : Math.min(1, Math.max(0, part / whole));

export const shareText = (part: number, whole: number): string =>
  // The unit stays on the line of its number.
  whole <= 0 ? '' : formatPercent((part / whole) * 100).replace(' ', '\u00A0');
