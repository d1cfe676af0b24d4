import type { X509Certificate } from 'node:crypto';
import type { Clock } from '../../base/clock.ts';
import { endsIn, parseAnchors, type Anchors } from '../../pki/anchors.ts';
import type { Peer } from '../server/request.ts';

const CLIENT_AUTH_OID = '1.3.6.1.5.5.7.3.2';
const ANY_USAGE_OID = '2.5.29.37.0';

/** The times are kept because a certificate formats them on every access. */
interface ClientVerdict {
  readonly generation: number;
  readonly trusted: boolean;
  readonly notBeforeMs: number;
  readonly notAfterMs: number;
}

/** Anchors for the certificates of clients; replaced whole when the bundle's file changes. */
export class ClientAuthorities {
  #anchors: Anchors = [];
  /** Changes with each bundle, so that verdicts of an older one are not used. */
  #generation = 0;
  readonly #verdicts = new WeakMap<Peer, ClientVerdict>();
  readonly #clock: Clock;

  constructor(bundlePem: string, clock: Clock) {
    this.#clock = clock;
    this.setBundle(bundlePem);
  }

  setBundle(bundlePem: string): void {
    this.#anchors = parseAnchors(bundlePem);
    this.#generation += 1;
  }

  /**
   * The certificate of the peer, if this bundle vouches for it now. The handshake has verified it against all
   * authorities of the listener, with constraints and purposes; here its chain must end in this bundle, and
   * its time must not be over: a connection outlives both.
   */
  verified(peer: Peer): X509Certificate | undefined {
    const certificate = peer.certificate();
    if (!certificate || !peer.verified) return undefined;
    let verdict = this.#verdicts.get(peer);
    if (verdict?.generation !== this.#generation) {
      verdict = this.#judge(certificate);
      this.#verdicts.set(peer, verdict);
    }
    const nowMs = this.#clock.nowMs();
    const isCurrent = verdict.notBeforeMs <= nowMs && nowMs <= verdict.notAfterMs;
    return verdict.trusted && isCurrent ? certificate : undefined;
  }

  #judge(certificate: X509Certificate): ClientVerdict {
    return {
      generation: this.#generation,
      trusted: this.#endsInBundle(certificate),
      notBeforeMs: Date.parse(certificate.validFrom),
      notAfterMs: Date.parse(certificate.validTo),
    };
  }

  #endsInBundle(leaf: X509Certificate): boolean {
    const usages: readonly string[] | undefined = leaf.keyUsage;
    if (usages && !usages.includes(CLIENT_AUTH_OID) && !usages.includes(ANY_USAGE_OID)) return false;
    return endsIn(leaf, this.#anchors);
  }
}
