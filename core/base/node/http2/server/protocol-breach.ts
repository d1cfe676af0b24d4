import { H2_ERROR } from '../frame.ts';
import type { H2ErrorCode } from '../frame.ts';

/** The peer broke the protocol; `code` goes into GOAWAY and the connection ends. */
export class ProtocolBreach extends Error {
  override readonly name = 'ProtocolBreach';
  readonly code: H2ErrorCode;

  constructor(code: H2ErrorCode, message: string) {
    super(message);
    this.code = code;
  }
}

export const breach = (what: string, code: H2ErrorCode = H2_ERROR.protocolError): ProtocolBreach =>
  new ProtocolBreach(code, what);
