import * as v from 'valibot';
import { said } from '../sentences/said.ts';

/** How the person at this console is known to a cluster whose users come from an OpenID Connect provider. */
export const signInState = v.object({
  issuer: v.string(),
  clientId: v.string(),
  /** Null while no one is signed in. */
  name: v.nullable(v.string()),
  expiresAtMs: v.nullable(v.number()),
  /** Whether a token that expires is replaced without a browser. */
  isRenewed: v.boolean(),
  /** The provider's page while a sign-in waits for the person. */
  url: v.nullable(v.string()),
  /** Why the last sign-in failed. */
  problem: v.nullable(said),
});
export type SignInState = v.InferOutput<typeof signInState>;
