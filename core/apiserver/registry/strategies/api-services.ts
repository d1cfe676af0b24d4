import { formatTime } from '../../../api/meta/index.ts';
import { maybeObj, obj } from '../../../api/validation/read.ts';
import type { Strategy } from '../generic/strategy.ts';

/** An APIService without a service is this server's own: it is available from its creation on. */
export const apiServiceStrategy: Strategy = {
  prepareForCreate(draft, { nowMs }) {
    if (maybeObj(obj(draft, 'spec'), 'service')) return;
    draft['status'] = {
      conditions: [
        {
          type: 'Available',
          status: 'True',
          lastTransitionTime: formatTime(nowMs),
          reason: 'Local',
          message: 'Local APIServices are always available',
        },
      ],
    };
  },
};
