import { ReasonError } from '../../base/errors.ts';
import { connectRuntime } from '../../kubelet/runtimes/cri/cri-runtime.ts';
import type { ClusterSpec } from '../config/config.ts';
import { foreignAddress } from '../data-folder/network.ts';

const cannot = (why: string): ReasonError<'NoRuntime'> => new ReasonError('NoRuntime', why);

/** One line that says what keeps real containers from running here, before anything is started. */
export const assertContainerRuntime = async (endpoints: readonly string[]): Promise<void> => {
  if (process.platform !== 'linux') throw cannot('--runtime cri requires Linux; use --runtime simulated');
  if (process.getuid?.() !== 0)
    throw cannot('--runtime cri requires root; run pilothouse up as root, or use --runtime simulated');
  for (const endpoint of endpoints) (await connectRuntime(endpoint)).client.close();
};

/** Pods must not be given addresses that mean something else here. */
export const assertPodRange = (spec: ClusterSpec): void => {
  const taken = foreignAddress(spec);
  if (taken !== undefined)
    throw cannot(
      `the address ${taken} of this machine is in the range of pods; choose another with --network`,
    );
};
