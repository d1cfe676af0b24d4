import { callControl } from '../../../core/cluster/control/client.ts';
import type { ControlMethod, ParamsOf, ResultOf } from '../../../core/cluster/control/protocol.ts';
import { inStep } from '../../../core/cluster/operation/step-report.ts';
import { say, verbatim } from '../../../core/contract/index.ts';
import type { RunnerContext } from './runner.ts';

/** Asks the process that runs the cluster; the lines it tells on the way are the detail of the one step. */
export const askHost = <M extends ControlMethod>(
  { cluster, report }: RunnerContext,
  method: M,
  params: ParamsOf<M>,
): Promise<ResultOf<M>> => {
  report.plan([{ id: method, title: say('step.elsewhere') }]);
  return inStep(report, method, () =>
    callControl(cluster.directory, method, params, (line) => report.detail(method, verbatim(line))),
  );
};
