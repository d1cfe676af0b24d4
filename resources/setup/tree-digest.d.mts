export declare const treeDigest: (folder: string) => Promise<string | undefined>;
