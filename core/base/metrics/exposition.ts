/** Text exposition format 0.0.4, written as client_golang writes it: https://prometheus.io/docs/instrumenting/exposition_formats/ */
export const EXPOSITION_CONTENT_TYPE = 'text/plain; version=0.0.4; charset=utf-8';

/** Go prints a float in exponent form outside of these (strconv, format 'g' with the shortest digits). */
const PLAIN_EXPONENT_MIN = -4;
const PLAIN_EXPONENT_MAX = 5;

export interface Label {
  readonly name: string;
  readonly value: string;
}

export const formatNumber = (value: number): string => {
  if (Number.isNaN(value)) return 'NaN';
  if (value === Infinity) return '+Inf';
  if (value === -Infinity) return '-Inf';
  if (value === 0) return Object.is(value, -0) ? '-0' : '0';
  const [digits, exponentText] = value.toExponential().split('e') as [string, string];
  const exponent = Number(exponentText);
  if (exponent >= PLAIN_EXPONENT_MIN && exponent <= PLAIN_EXPONENT_MAX) return String(value);
  const magnitude = String(Math.abs(exponent)).padStart(2, '0');
  return `${digits}e${exponent < 0 ? '-' : '+'}${magnitude}`;
};

export const escapeHelp = (text: string): string =>
  text.replace(/[\\\n]/g, (c) => (c === '\n' ? '\\n' : '\\\\'));

const ESCAPED: Readonly<Record<string, string>> = { '\\': '\\\\', '"': '\\"', '\n': '\\n' };
export const escapeLabel = (text: string): string => text.replace(/[\\"\n]/g, (c) => ESCAPED[c]!);

/** `name{a="1",b="2"} value`; labels are given in the order in which they are printed. */
export const sampleLine = (name: string, labels: readonly Label[], value: string): string => {
  if (labels.length === 0) return `${name} ${value}\n`;
  return `${name}{${labels.map((label) => `${label.name}="${escapeLabel(label.value)}"`).join(',')}} ${value}\n`;
};
