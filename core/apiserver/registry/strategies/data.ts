import { formatTime } from '../../../api/meta/index.ts';
import { obj, str, strMap } from '../../../api/validation/read.ts';
import type { Draft, Strategy } from '../generic/strategy.ts';

/** `stringData` is written and never read: its texts become bytes of `data`. */
const mergeStringData = (draft: Draft): void => {
  const texts = Object.entries(strMap(draft, 'stringData'));
  delete draft['stringData'];
  if (texts.length === 0) return;
  draft['data'] = {
    ...obj(draft, 'data'),
    ...Object.fromEntries(texts.map(([key, text]) => [key, Buffer.from(text).toString('base64')])),
  };
};

export const secretStrategy: Strategy = {
  prepareForCreate: mergeStringData,
  prepareForUpdate(draft, old) {
    mergeStringData(draft);
    if (str(draft, 'type') === '' && old['type'] !== undefined) draft['type'] = old['type'];
  },
};

/** A volume's phase moves with a time, which the server sets where the client does not. */
export const volumeStatus: Strategy = {
  prepareForUpdate(draft, old, { nowMs }) {
    const [status, before] = [obj(draft, 'status'), obj(old, 'status')];
    const [time, timeBefore] = [status['lastPhaseTransitionTime'], before['lastPhaseTransitionTime']];
    const isSamePhase = str(status, 'phase') === str(before, 'phase');
    if (isSamePhase && time === undefined && timeBefore !== undefined)
      draft['status'] = { ...status, lastPhaseTransitionTime: timeBefore };
    if (!isSamePhase && (time === undefined || time === timeBefore))
      draft['status'] = { ...status, lastPhaseTransitionTime: formatTime(nowMs) };
  },
};
