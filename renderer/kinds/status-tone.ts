import type { IconName } from '../components/icon-names.ts';

export type StatusTone = 'ok' | 'warn' | 'error' | 'pending' | 'idle';

/** Worst first: the order in which a person wants to see them. */
export const toneRank: Readonly<Record<StatusTone, number>> = {
  error: 0,
  warn: 1,
  pending: 2,
  ok: 3,
  idle: 4,
};

export const toneIcon: Readonly<Record<StatusTone, IconName>> = {
  ok: 'ok',
  warn: 'warn',
  error: 'error',
  pending: 'pending',
  idle: 'standby',
};

const OK = new Set([
  'Running',
  'Active',
  'Bound',
  'Ready',
  'Available',
  'Healthy',
  'Approved,Issued',
  'True',
]);
const PENDING = new Set([
  'Pending',
  'ContainerCreating',
  'PodInitializing',
  'Terminating',
  'Progressing',
  'Released',
]);
const IDLE = new Set(['Completed', 'Complete', 'Succeeded', 'Suspended', 'Normal']);
const WARN = /^(Warning|Unknown|NotReady|.*SchedulingDisabled.*|Evicted|Lost|Denied)$/;
const ERROR =
  /(Error|BackOff|Failed|Failure|Invalid|OOMKilled|Err\w+|Deadline\w+|Cannot\w+|ContainerStatusUnknown)/;

const readTone = (status: string): StatusTone | undefined => {
  if (OK.has(status)) return 'ok';
  if (IDLE.has(status)) return 'idle';
  if (ERROR.test(status)) return 'error';
  if (WARN.test(status) || status.startsWith('NotReady')) return 'warn';
  if (PENDING.has(status) || status.startsWith('Init:')) return 'pending';
  return undefined;
};

/** Tens of thousands of rows share a handful of words; a list asks for all of them ten times a second. */
const KNOWN_WORDS_MAX = 1000;
const knownTones = new Map<string, StatusTone | undefined>();

/** What the word in a status column asks of a person. Words that we do not know are told without colour. */
export const statusTone = (status: string): StatusTone | undefined => {
  if (knownTones.has(status)) return knownTones.get(status);
  if (knownTones.size >= KNOWN_WORDS_MAX) knownTones.clear();
  const tone = readTone(status);
  knownTones.set(status, tone);
  return tone;
};

/** Columns whose words are states: upstream's printers, and what most CRDs print. */
export const isStatusColumn = (name: string): boolean => /^(status|phase|state|type)$/i.test(name);
