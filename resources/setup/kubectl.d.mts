export interface KubernetesTools {
  readonly kubectl: string;
  readonly helm: string;
}

export interface MissingTools {
  /** One line for people. */
  readonly missing: string;
}

export declare const KUBECTL_MINORS: readonly number[];

/** Without fetching anything. */
export declare const cachedKubernetesTools: (minor: number) => KubernetesTools | undefined;

export declare const resolveKubernetesTools: (
  minor: number,
  options?: { readonly log?: (line: string) => void },
) => Promise<KubernetesTools | MissingTools>;
