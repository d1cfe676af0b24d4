/** A `jwt` entry of upstream's AuthenticationConfiguration, with absent texts as empty ones. */
export interface JwtAuthenticator {
  readonly issuer: {
    readonly url: string;
    readonly discoveryUrl: string;
    /** PEM; empty: the authorities that the machine trusts. */
    readonly certificateAuthority: string;
    readonly audiences: readonly string[];
    readonly audienceMatchPolicy: string;
  };
  readonly claimValidationRules: readonly ClaimValidationRule[];
  readonly claimMappings: {
    readonly username: ClaimOrExpression;
    readonly groups: ClaimOrExpression;
    readonly uid: { readonly claim: string; readonly expression: string };
    readonly extra: readonly { readonly key: string; readonly valueExpression: string }[];
  };
  readonly userValidationRules: readonly { readonly expression: string; readonly message: string }[];
}

export interface ClaimValidationRule {
  readonly claim: string;
  readonly requiredValue: string;
  readonly expression: string;
  readonly message: string;
}

export interface ClaimOrExpression {
  readonly claim: string;
  /** Absent is not the same as empty: a claim needs a prefix, which may be empty. */
  readonly prefix: string | undefined;
  readonly expression: string;
}

export const NO_CLAIM: ClaimOrExpression = { claim: '', prefix: undefined, expression: '' };
