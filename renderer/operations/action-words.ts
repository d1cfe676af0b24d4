import { traitsOf, type ActionPreview, type ClusterAction } from '../../core/contract/index.ts';
import type { IconName } from '../components/icon-names.ts';
import { t, type MessageKey } from '../locales/i18n.ts';

type Values = Readonly<Record<string, string | number>>;

/** A text whose key is made from an action; `action-words.test.ts` holds that there is one for each. */
const textOf = (key: string, values: Values = {}): string =>
  (t as (key: MessageKey, values: Values) => string)(key as MessageKey, values);

const fieldsOf = (action: ClusterAction): Values =>
  Object.fromEntries(
    Object.entries(action).filter(
      (field): field is [string, string | number] =>
        typeof field[1] === 'string' || typeof field[1] === 'number',
    ),
  );

/** Verb and object, as on the button: "Kill cp-2". */
export const actionTitle = (action: ClusterAction): string => {
  const { variant = '', values = {} } = traitsOf(action).title?.(action) ?? { values: fieldsOf(action) };
  return textOf(`action.${action.kind}${variant}`, values);
};

export const actionQuestion = (action: ClusterAction): string =>
  t('action.question', { title: actionTitle(action) });

/** One sentence about what the action is; undefined where the title says it all. */
export const actionMeaning = (action: ClusterAction): string | undefined => {
  const meaning = traitsOf(action).meaning?.(action);
  return meaning === undefined ? undefined : textOf(`action.means.${meaning}`);
};

/** The object that a person types by hand before an action that cannot be taken back. */
export const actionSubject = (action: ClusterAction): string | undefined =>
  traitsOf(action).subject?.(action);

export const actionIcon = (action: ClusterAction): IconName => traitsOf(action).icon;

/** Whether the object's name has to be typed. Without a verdict the worst is assumed. */
export const needsTyping = (
  action: ClusterAction,
  verdict: ActionPreview['verdict'] | undefined,
): boolean => {
  const { typing } = traitsOf(action);
  if (typing !== undefined) return typing === 'always';
  return verdict === undefined || verdict === 'outage';
};
