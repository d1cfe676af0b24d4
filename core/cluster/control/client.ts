import { connect, type Socket } from 'node:net';
import { SaidError } from '../../contract/index.ts';
import { messageOf, ReasonError } from '../../base/errors.ts';
import { controlEndpoint } from '../data-folder/control-endpoint.ts';
import { onJsonLines, sendJsonLine } from './lines.ts';
import type { ControlAnswer, ControlMethod, ParamsOf, ResultOf } from './protocol.ts';

/** No one listens: the folder holds a cluster that does not run, or none. */
const NOBODY = ['ENOENT', 'ECONNREFUSED', 'ENOTDIR'];

const dial = (dataDirectory: string): Promise<Socket> =>
  new Promise((resolve, reject) => {
    const socket = connect(controlEndpoint(dataDirectory), () => resolve(socket));
    socket.once('error', (cause: NodeJS.ErrnoException) =>
      reject(
        NOBODY.includes(cause.code ?? '')
          ? new ReasonError(
              'NotRunning',
              `no cluster is running in ${dataDirectory}; start it with \`pilothouse up --data ${dataDirectory}\``,
              { cause },
            )
          : new ReasonError(
              'Unreachable',
              `cannot reach the cluster in ${dataDirectory}: ${messageOf(cause)}`,
              {
                cause,
              },
            ),
      ),
    );
  });

/** Asks the cluster that runs in a data folder. `NotRunning` when none does. */
export const callControl = async <M extends ControlMethod>(
  dataDirectory: string,
  method: M,
  params: ParamsOf<M>,
  onProgress: (line: string) => void = () => undefined,
): Promise<ResultOf<M>> => {
  const socket = await dial(dataDirectory);
  try {
    return await new Promise<ResultOf<M>>((resolve, reject) => {
      socket.once('close', () =>
        reject(new ReasonError('Unreachable', `the cluster in ${dataDirectory} stopped before it responded`)),
      );
      socket.on('error', reject);
      onJsonLines(socket, (value) => {
        const answer = value as ControlAnswer;
        if ('progress' in answer) onProgress(answer.progress);
        else if ('error' in answer) reject(new SaidError(answer.error.reason, answer.error.said));
        else resolve(answer.result as ResultOf<M>);
      });
      sendJsonLine(socket, { id: 1, method, params });
    });
  } finally {
    socket.destroy();
  }
};
