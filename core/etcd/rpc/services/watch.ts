import { WatchRequest, WatchResponse } from '../../proto/index.ts';
import { bidiStream } from '../grpc/method.ts';
import type { Method } from '../grpc/method.ts';
import type { MemberApi } from '../member-api.ts';
import { WatchStream } from './watch-stream.ts';
import type { WatchOptions } from './watch-stream.ts';

export const watchMethods = (member: MemberApi, options: WatchOptions): readonly Method[] => [
  bidiStream('etcdserverpb.Watch', 'Watch', {
    request: WatchRequest,
    response: WatchResponse,
    handle: (stream) => new WatchStream(member, stream, options).run(),
  }),
];
