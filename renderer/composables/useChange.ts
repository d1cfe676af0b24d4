import { ref, type Ref } from 'vue';
import type { ApiRequest, Refusal } from '../../core/contract/index.ts';
import { refusalText } from '../locales/refusal-text.ts';
import { useCall } from './useCall.ts';

/** Sends one change to a cluster; a refusal, of the server or of this console, is one message to show. */
export const useChange = (): {
  run(request: ApiRequest): Promise<boolean>;
  readonly pending: Readonly<Ref<boolean>>;
  readonly message: Ref<string | undefined>;
} => {
  const call = useCall('kube.request');
  const message = ref<string>();
  return {
    pending: call.pending,
    message,
    async run(request) {
      message.value = undefined;
      const result = await call.run(request);
      const refusal: Refusal | undefined = result.ok && !result.value.ok ? result.value.refusal : undefined;
      if (!result.ok) message.value = result.error.message;
      else if (refusal) message.value = refusalText(refusal);
      return message.value === undefined;
    },
  };
};
