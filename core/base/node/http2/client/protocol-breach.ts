import { H2_ERROR } from '../frame.ts';

/** The server broke the protocol; only the connection can be given up. */
export class ProtocolBreach extends Error {
  readonly code: number;
  constructor(message: string, code: number = H2_ERROR.protocolError) {
    super(message);
    this.code = code;
  }
}
