import { naturalOrder } from '../../../core/base/natural-order.ts';
import type { CertificateView } from '../../../core/contract/index.ts';
import { xOf } from '../../components/time-axis.ts';
import {
  certificateState,
  endsAtMs,
  placeOf,
  STATE_ORDER,
  type CertificateState,
} from './certificate-state.ts';

/** Lanes of the graphic: one a host, then what belongs to none, then the authorities. */
export const OTHERS = '\u0000others';
export const AUTHORITIES = '\u0000authorities';

export interface ExpiryDot {
  readonly id: string;
  readonly lane: string;
  readonly x: number;
  readonly radius: number;
  readonly state: CertificateState;
  readonly certificates: readonly CertificateView[];
  /** The first to end. */
  readonly atMs: number;
  /** Beyond the axis: it stands in a place of its own at the right. */
  readonly isLater: boolean;
}

export interface ExpiryAxis {
  readonly nowMs: number;
  readonly untilMs: number;
  readonly width: number;
  /** Of the place for what ends later. */
  readonly laterX: number;
}

const MONTHS = 12;
/** Dots closer than this would cover each other. */
const MERGE_PX = 18;
const RADIUS_MIN = 7;
const RADIUS_MAX = 12;

/** A year from now, on the same day of the month where there is one. */
export const untilOf = (nowMs: number): number => {
  const until = new Date(nowMs);
  until.setMonth(until.getMonth() + MONTHS);
  // A fresh certificate of one year still stands on the axis.
  return until.getTime() + 86_400_000;
};

/** The first of each month on the axis. */
export const monthTicks = (nowMs: number): readonly number[] => {
  const first = new Date(nowMs);
  return Array.from({ length: MONTHS }, (_, index) =>
    new Date(first.getFullYear(), first.getMonth() + index + 1, 1).getTime(),
  );
};

export const laneOf = ({ kind, name }: CertificateView): string => {
  if (kind === 'authority') return AUTHORITIES;
  const { host } = placeOf(name);
  return host === '' ? OTHERS : host;
};

/** Hosts by name, then what belongs to none, then the authorities; only those that have something. */
export const lanesOf = (certificates: readonly CertificateView[]): readonly string[] => {
  const lanes = new Set(certificates.map(laneOf));
  const hosts = [...lanes]
    .filter((lane) => lane !== OTHERS && lane !== AUTHORITIES)
    .sort((a, b) => naturalOrder(a, b));
  return [...hosts, ...[OTHERS, AUTHORITIES].filter((lane) => lanes.has(lane))];
};

const worst = (states: readonly CertificateState[]): CertificateState =>
  STATE_ORDER.find((state) => states.includes(state)) ?? 'ok';

/**
 * When certificates end, as dots that count: those that would cover each other are one. What needs action is never
 * merged with what does not.
 */
export const expiryDots = (
  certificates: readonly CertificateView[],
  { nowMs, untilMs, width, laterX }: ExpiryAxis,
): readonly ExpiryDot[] => {
  const scale = { fromMs: nowMs, toMs: untilMs, width };
  const placed = certificates
    .map((certificate) => {
      const atMs = endsAtMs(certificate);
      const isLater = atMs > untilMs;
      return {
        certificate,
        lane: laneOf(certificate),
        atMs,
        isLater,
        state: certificateState(certificate, nowMs),
        x: isLater ? laterX : xOf(scale, atMs),
      };
    })
    .sort((a, b) => a.atMs - b.atMs || naturalOrder(a.certificate.name, b.certificate.name));

  const groups: (typeof placed)[] = [];
  for (const one of placed) {
    const group = groups.find(
      ([first]) =>
        first?.lane === one.lane &&
        first.isLater === one.isLater &&
        (first.state === 'ok') === (one.state === 'ok') &&
        one.x - first.x < MERGE_PX,
    );
    if (group) group.push(one);
    else groups.push([one]);
  }
  return groups.map((group) => {
    const first = group[0]!;
    return {
      id: `${first.lane} ${first.certificate.name}`,
      lane: first.lane,
      x: first.x,
      radius: Math.min(RADIUS_MAX, RADIUS_MIN + group.length * 0.55),
      state: worst(group.map(({ state }) => state)),
      certificates: group.map(({ certificate }) => certificate),
      atMs: first.atMs,
      isLater: first.isLater,
    };
  });
};
