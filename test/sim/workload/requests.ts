import * as proto from '../../../core/etcd/proto/index.ts';
import type { RequestContext } from '../../../core/etcd/rpc/member-api.ts';

/** No one hangs up on a call here: the clients only stop waiting. */
export const CONTEXT: RequestContext = {
  over: false,
  signal: new AbortController().signal,
  peer: { address: 'client', commonName: () => undefined },
  metadata: () => undefined,
};

const bytes = (text: string): Uint8Array => Buffer.from(text, 'latin1');

export const putRequest = (key: string, value: string, lease = 0n): proto.PutRequest =>
  proto.PutRequest.decode(proto.PutRequest.encode({ key: bytes(key), value: bytes(value), lease }));

export const rangeRequest = (
  key: string,
  options: { rangeEnd?: string; revision?: number } = {},
): proto.RangeRequest =>
  proto.RangeRequest.decode(
    proto.RangeRequest.encode({
      key: bytes(key),
      rangeEnd: bytes(options.rangeEnd ?? ''),
      revision: options.revision ?? 0,
    }),
  );

export const deleteRequest = (key: string): proto.DeleteRangeRequest =>
  proto.DeleteRangeRequest.decode(proto.DeleteRangeRequest.encode({ key: bytes(key) }));

/** Writes `value` if the key holds `expected`, or if it is absent when nothing is expected. */
export const swapRequest = (key: string, expected: string | undefined, value: string): proto.TxnRequest =>
  proto.TxnRequest.decode(
    proto.TxnRequest.encode({
      compare: [
        expected === undefined
          ? {
              key: bytes(key),
              target: proto.COMPARE_TARGET.VERSION,
              result: proto.COMPARE_RESULT.EQUAL,
              version: 0,
            }
          : {
              key: bytes(key),
              target: proto.COMPARE_TARGET.VALUE,
              result: proto.COMPARE_RESULT.EQUAL,
              value: bytes(expected),
            },
      ],
      success: [{ requestPut: { key: bytes(key), value: bytes(value) } }],
      failure: [],
    }),
  );

/** The answer as a client decodes it. */
export const valueOf = (answer: proto.RangeResponseIn): string | undefined => {
  const [first] = proto.RangeResponse.decode(proto.RangeResponse.encode(answer)).kvs;
  return first === undefined ? undefined : Buffer.from(first.value).toString('latin1');
};
